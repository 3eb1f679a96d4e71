"""The directive ``{rlgraph-metrics} workers``, or ``executors``: the metrics that these report, from the code."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def metrics_markdown(whose: str) -> str:
    """The table of the metrics of all `workers`, or of what `executors` add to them."""
    from rlgraph.execution.monitor import METRICS
    from rlgraph.workers.metrics import glossary_table

    return glossary_table(METRICS if whose == "executors" else None)


class MetricsDirective(SphinxDirective):
    """The table of metrics."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        whose = directives.choice(self.arguments[0], ("workers", "executors"))
        return self.parse_text_to_nodes(metrics_markdown(whose))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rlgraph-metrics", MetricsDirective)
    return {"version": "1", "parallel_read_safe": True}
