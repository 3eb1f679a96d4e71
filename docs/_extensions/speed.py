"""The directives ``{rlgraph-speed}`` and ``{rlgraph-speed-peers}``: training beside other libraries."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

RESULTS = Path(__file__).parents[1] / "results" / "speed"
PEERS = RESULTS / "peers"
#: Subject of the benchmark -> its column.
WAYS = {
    "rlgraph torch": "PyTorch",
    "rlgraph torch compiled": "PyTorch, compiled",
    "rlgraph tf": "TensorFlow",
    "rlgraph tf compiled": "TensorFlow, compiled",
}

#: Library of `micro/train --peer` -> its name.
TITLES = {
    "sb3": "Stable-Baselines3",
    "sbx": "SBX",
    "rejax": "rejax",
    "rlox": "rlox",
    "rltools": "RLtools",
    "skrl": "skrl",
    "tianshou": "Tianshou",
    "torchrl": "TorchRL",
    "rllib": "RLlib",
    "agilerl": "AgileRL",
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
    return "\n".join([*lines, "", _provenance(found), ""])


def _provenance(found: list[dict[str, Any]]) -> str:
    versions = dict.fromkeys(
        version for each in found for text in each["trained_by"].values() for version in text.split(", ")
    )
    machines = dict.fromkeys(each["machine"].partition(", load ")[0] for each in found)
    return f"{', '.join(versions)}. {'; '.join(machines)}."


def peers_markdown(folder: Path = PEERS) -> str:
    """A column for each agent: steps per second of every library, and how many times as many the fastest way of ours.

    An agent may have several files. A library is compared within its own.
    """
    found = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))]
    cells: dict[str, dict[str, str]] = {}
    for measured in found:
        rounds = {row["name"]: row["figure"]["rounds"] for row in measured["rows"]}
        way = max(WAYS.keys() & rounds.keys(), key=lambda way: median(rounds[way]))
        column = cells.setdefault(measured["agent"], {})
        column.setdefault("RLgraph", f"{median(rounds[way]):,.0f}, {WAYS[way]}")
        for name in TITLES.keys() & rounds.keys():
            times = [ours / theirs for ours, theirs in zip(rounds[way], rounds[name], strict=True)]
            column.setdefault(TITLES[name], f"{median(rounds[name]):,.0f} ({median(times):.2f})")
    lines = [
        f"| | {' | '.join(agent.upper() for agent in cells)} |",
        f"| --- |{' ---: |' * len(cells)}",
    ]
    for title in ("RLgraph", *TITLES.values()):
        lines.append(f"| {title} | {' | '.join(column.get(title, '') for column in cells.values())} |")
    return "\n".join([*lines, "", _provenance(found), ""])


class SpeedDirective(SphinxDirective):
    """A table of all agents that were measured."""

    folder, markdown = RESULTS, staticmethod(speed_markdown)

    def run(self) -> list[nodes.Node]:
        for file in self.folder.glob("*.json"):
            self.env.note_dependency(str(file))
        return self.parse_text_to_nodes(self.markdown())


class PeersDirective(SpeedDirective):
    """The table of all libraries."""

    folder, markdown = PEERS, staticmethod(peers_markdown)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rlgraph-speed", SpeedDirective)
    app.add_directive("rlgraph-speed-peers", PeersDirective)
    return {"version": "1", "parallel_read_safe": True}
