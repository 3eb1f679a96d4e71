"""The directive ``{rlgraph-speed}``: training against Stable-Baselines3, by `tools/benchmarks/micro/train.py`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

RESULTS = Path(__file__).parents[1] / "results" / "speed"
#: Subject of the benchmark -> its column.
WAYS = {
    "rlgraph torch": "PyTorch",
    "rlgraph torch compiled": "PyTorch, compiled",
    "rlgraph tf": "TensorFlow",
    "rlgraph tf compiled": "TensorFlow, compiled",
}


def speed_markdown(folder: Path = RESULTS) -> str:
    """A row for each file: steps per second of Stable-Baselines3, and how many times as many RLgraph makes."""
    lines = [
        f"| agent | Stable-Baselines3 | {' | '.join(WAYS.values())} |",
        f"| --- |{' ---: |' * (len(WAYS) + 1)}",
    ]
    found = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))]
    for measured in found:
        rows = {row["name"]: row for row in measured["rows"]}
        ours = [f"{rows[way]['ratio']['median']:.2f}" for way in WAYS]
        sb3 = rows["sb3"]["figure"]["median"]
        lines.append(f"| {{doc}}`agents/{measured['agent']}` | {sb3:,.0f} | {' | '.join(ours)} |")
    versions = dict.fromkeys(
        version for each in found for text in each["trained_by"].values() for version in text.split(", ")
    )
    machines = dict.fromkeys(each["machine"].partition(", load ")[0] for each in found)
    return "\n".join([*lines, "", f"{', '.join(versions)}. {'; '.join(machines)}.", ""])


class SpeedDirective(SphinxDirective):
    """The table of all agents that were measured."""

    def run(self) -> list[nodes.Node]:
        for file in RESULTS.glob("*.json"):
            self.env.note_dependency(str(file))
        return self.parse_text_to_nodes(speed_markdown())


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rlgraph-speed", SpeedDirective)
    return {"version": "1", "parallel_read_safe": True}
