"""The directive ``{rlgraph-metrics} workers``, ``executors`` or ``agents``: their metrics, from the code."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def metrics_markdown(whose: str) -> str:
    """The table of the metrics of all `workers`, of what `executors` add, or of what updates of `agents` return."""
    from rlgraph.execution.executors.monitor import METRICS
    from rlgraph.workers.metrics import glossary_table

    if whose == "agents":
        return glossary_of_agents()
    return glossary_table(METRICS if whose == "executors" else None)


def metrics_of_agents() -> dict[str, dict[str, Any]]:
    """Registered name of an agent of rlgraph-agents -> the metrics that its algorithm declares, by name."""
    from rlgraph.agents import Agent
    from rlgraph.algorithms.actor_critic import ActorCritic
    from rlgraph.algorithms.intrinsic_rewards import IntrinsicRewards
    from rlgraph.core import registry

    agents = registry("rlgraph.agents")
    kinds = {name: Agent.of(name).algorithm_class for name in agents.names()}
    own = {name: kind for name, kind in kinds.items() if kind.__module__.startswith("rlgraph.algorithms.")}
    found = {name: dict(kind.metrics) for name, kind in own.items()}
    for name, kind in own.items():
        if issubclass(kind, ActorCritic):
            found[name] |= IntrinsicRewards.metrics
    return found


def glossary_of_agents() -> str:
    """What updates return, and of which agents."""
    found = metrics_of_agents()
    names = dict.fromkeys(name for metrics in found.values() for name in metrics)
    rows = ["| name | unit | meaning | agents |", "| --- | --- | --- | --- |"]
    for name in names:
        agents = [agent for agent, metrics in found.items() if name in metrics]
        metric = found[agents[0]][name]
        rows.append(f"| `{name}` | {metric.unit} | {metric.description} | {', '.join(agents)} |")
    return "\n".join(rows)


class MetricsDirective(SphinxDirective):
    """The table of metrics."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        whose = directives.choice(self.arguments[0], ("workers", "executors", "agents"))
        return self.parse_text_to_nodes(metrics_markdown(whose))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rlgraph-metrics", MetricsDirective)
    return {"version": "1", "parallel_read_safe": True}
