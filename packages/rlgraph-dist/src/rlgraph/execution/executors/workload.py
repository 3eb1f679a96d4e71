"""The workload of `Executor.execute_workload`, by the names of RLgraph 0.5."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from rlgraph.core.specs.spec_types import Amount, Count, Times
from rlgraph.workers.callbacks import Callback
from rlgraph.workers.worker import Worker

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Workload:
    """What `Executor.execute_workload` does.

    Attributes:
        num_timesteps: environment steps.
        report_interval: steps between two reports; None: that of the executor.
        report_interval_min_seconds: seconds between two reports, at least.
    """

    num_timesteps: Times
    report_interval: Count | None = None
    report_interval_min_seconds: Amount = 0.0


class LoggedReports(Callback):
    """Logs reports.

    Args:
        min_seconds: between two of them, at least.
    """

    def __init__(self, min_seconds: float):
        self._min_seconds, self._last = min_seconds, 0.0

    def on_report(self, worker: Worker, metrics: Mapping[str, float]) -> None:
        if worker.seconds - self._last >= self._min_seconds:
            self._last = worker.seconds
            shown = ", ".join(f"{name} {value:.6g}" for name, value in metrics.items())
            _log.info("step %s: %s", worker.timesteps_of_run, shown)
