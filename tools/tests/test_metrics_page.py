"""The documentation has every metric that the code defines."""

import pytest

pytest.importorskip("sphinx")
from metrics_glossary import metrics_markdown

from rlgraph.execution.monitor import METRICS as OF_EXECUTORS
from rlgraph.workers.metrics import METRICS


def test_the_page_has_every_metric() -> None:
    tables = metrics_markdown("workers") + metrics_markdown("executors")
    assert "| `mean_return` | return | Mean undiscounted return" in tables
    for name, metric in {**METRICS, **OF_EXECUTORS}.items():
        if name != "entropy_of_goals":  # pages define it in this process
            assert f"| `{name}` | {metric.unit} | {metric.description} |" in tables


def test_workers_and_executors_have_their_own_tables() -> None:
    assert "weights_age" in metrics_markdown("executors")
    assert "weights_age" not in metrics_markdown("workers")
