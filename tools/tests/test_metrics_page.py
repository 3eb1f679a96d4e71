"""The documentation has every metric that the code defines."""

import pytest

pytest.importorskip("sphinx")
from metrics_glossary import metrics_markdown, metrics_of_agents

from rlgraph.execution.executors.monitor import METRICS as OF_EXECUTORS
from rlgraph.workers.metrics import METRICS


def test_the_page_has_every_metric() -> None:
    tables = metrics_markdown("workers") + metrics_markdown("executors")
    assert "| `mean_return` | return | Mean undiscounted return" in tables
    for name, metric in {**METRICS, **OF_EXECUTORS}.items():
        if name != "entropy_of_goals":  # pages define it in this process
            assert f"| `{name}` | {metric.unit} | {metric.description} |" in tables


def test_the_page_has_every_metric_of_every_agent() -> None:
    """A name means the same for all agents. Tests of runs compare what agents declare with what updates return."""
    table, found = metrics_markdown("agents"), metrics_of_agents()
    assert {"a2c", "bc", "dqn", "iql", "ppo", "sac", "td3"} <= found.keys()
    for agent, metrics in found.items():
        for name, metric in metrics.items():
            assert name not in METRICS, f"{agent} declares {name}, which every run has"
            (row,) = [line for line in table.splitlines() if line.startswith(f"| `{name}` |")]
            assert row.startswith(f"| `{name}` | {metric.unit} | {metric.description} |") and agent in row
    assert len(table.splitlines()) == 2 + len({name for metrics in found.values() for name in metrics})


def test_workers_and_executors_have_their_own_tables() -> None:
    assert "weights_age" in metrics_markdown("executors")
    assert "weights_age" not in metrics_markdown("workers")
