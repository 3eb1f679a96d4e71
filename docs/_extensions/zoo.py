"""The directive ``{rlgraph-zoo}``: the presets of all agents, with what they reached in the benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def zoo_markdown(folder: Path = BENCHMARKS) -> str:
    """A table of all presets, with the interquartile mean of their results in a folder."""
    from rlgraph.runs.aggregate import interquartile_mean
    from rlgraph.runs.benchmarks.results import read_all, same_document
    from rlgraph.runs.benchmarks.tables import rows_of
    from rlgraph.runs.recorded_run import environment_name

    results = list(read_all(folder))
    lines = ["| preset | environment | steps | seeds | IQM | agent |", f"|{' --- |' * 6}"]
    for preset in _presets():
        steps, environment = preset.document["steps"], environment_name(preset.document["environment"])
        own = [r for r in results if r.name == preset.name and same_document(r.document, preset.document)]
        # The first backend, PyTorch where there are results of it.
        row = next((row for row in rows_of(own) if len(row.means)), None)
        found = (
            ("", "")
            if row is None
            else (
                f"{len(row.means)} of {len(row.results)}"
                if len(row.means) < len(row.results)
                else str(len(row.results)),
                f"{interquartile_mean(row.means):.1f}",
            )
        )
        page = f"agents/{preset.agent['type']}"
        agent = f"{{doc}}`/{page}`" if (BENCHMARKS.parent / f"{page}.md").exists() else ""
        lines.append(f"| `{preset.name}` | {environment} | {steps:,} | {' | '.join(found)} | {agent} |")
    return "\n".join([*lines, ""])


def _presets() -> Iterator[Any]:
    from rlgraph.agents.presets import presets_of
    from rlgraph.core import registry

    for agent in sorted(registry("rlgraph.agents").names()):
        yield from presets_of(agent)


class ZooDirective(SphinxDirective):
    """The table of all presets."""

    def run(self) -> list[nodes.Node]:
        for file in BENCHMARKS.glob("*/**/*.json"):
            self.env.note_dependency(str(file))
        return self.parse_text_to_nodes(zoo_markdown())


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rlgraph-zoo", ZooDirective)
    return {"version": "1", "parallel_read_safe": True}
