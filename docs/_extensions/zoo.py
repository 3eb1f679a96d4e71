"""The directive ``{rlgraph-zoo}``: the presets of all agents, with what they reached in the benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from rlgraph.runs.benchmarks.tables import Row

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def zoo_markdown(folder: Path = BENCHMARKS) -> str:
    """A table of all presets, with the interquartile mean of their results in a folder."""
    from rlgraph.runs.benchmarks.results import read_all, same_document
    from rlgraph.runs.benchmarks.tables import rows_of
    from rlgraph.runs.recorded_run import environment_name

    results = list(read_all(folder))
    lines = ["| preset | environment | steps | seeds | IQM | by | agent |", f"|{' --- |' * 7}"]
    for preset in _presets():
        steps, environment = preset.document["steps"], environment_name(preset.document["environment"])
        own = [r for r in results if r.name == preset.name and same_document(r.document, preset.document)]
        row = max(rows_of(own), key=lambda row: len(row.means), default=None)
        page = f"agents/{preset.agent['type']}"
        agent = f"{{doc}}`/{page}`" if (BENCHMARKS.parent / f"{page}.md").exists() else ""
        lines.append(f"| `{preset.name}` | {environment} | {steps:,} | {_found(row)} | {agent} |")
    return "\n".join([*lines, ""])


def _found(row: Row | None) -> str:
    """The cells of seeds, interquartile mean, and what computed; seeds that failed are in the first alone."""
    if row is None or not len(row.means):
        return " |  | "
    from rlgraph.runs.aggregate import interquartile_mean

    failed = len(row.results) - len(row.means)
    seeds = f"{len(row.results)}, {failed} failed" if failed else str(len(row.results))
    return f"{seeds} | {interquartile_mean(row.means):.1f} | {row.title}"


def _presets() -> Iterator[Any]:
    from rlgraph.algorithms.presets import presets_of
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
