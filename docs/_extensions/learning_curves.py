"""The directive ``{rlgraph-curves} first_page.yaml``: the curves of a suite with results in ``docs/benchmarks``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


class CurvesDirective(SphinxDirective):
    """The curves of all seeds of a suite, a file in ``docs/benchmarks``; every seed must have a result."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        from rlgraph.runs.benchmarks.pictures import draw_curves
        from rlgraph.runs.benchmarks.results import State
        from rlgraph.runs.benchmarks.suite import read_suite

        suite = read_suite(BENCHMARKS / self.arguments[0])
        state = State(suite, BENCHMARKS)
        if state.missing:
            labels = ", ".join(f"{subject.label} seed {seed}" for subject, seed in state.missing)
            command = f"rlgraph benchmark docs/benchmarks/{self.arguments[0]} --folder docs/benchmarks"
            raise self.error(f"no results of {labels}: {command}")
        self.env.note_dependency(str(BENCHMARKS / self.arguments[0]))
        for results in BENCHMARKS.glob("*/**/*.json"):
            self.env.note_dependency(str(results))
        file = Path(self.env.srcdir) / "generated" / f"{suite.name}_curves.svg"
        file.parent.mkdir(exist_ok=True)
        draw_curves(state, file)
        uri = "/" + file.relative_to(self.env.srcdir).as_posix()
        return [nodes.image(uri=uri, alt=f"learning curves: {suite.description}")]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rlgraph-curves", CurvesDirective)
    return {"version": "1", "parallel_read_safe": True}
