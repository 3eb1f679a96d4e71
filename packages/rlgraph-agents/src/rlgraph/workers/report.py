"""The metrics between two reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rlgraph.workers.metrics import check_metrics

if TYPE_CHECKING:
    from rlgraph.workers.worker import Worker


class Report:
    """Collects what happens between two reports.

    Args:
        worker: the worker.
    """

    def __init__(self, worker: Worker):
        self._worker = worker
        self._loss, self._updates = 0.0, 0
        self._reported, self._done, self._seconds = 0, 0, 0.0

    def begin(self, done: int, seconds: float) -> None:
        """Begin, or resume, after `done` steps and `seconds`."""
        self._done, self._seconds = done, seconds

    def add_update(self, results: Mapping[str, Any]) -> None:
        self._loss += results["loss"]
        self._updates += 1

    def is_new(self, done: int) -> bool:
        """Whether there are steps that were not reported."""
        return done > self._reported

    def take(self, done: int) -> dict[str, float]:
        """The metrics since the last report.

        Raises:
            InputError: the agent names a metric that is not in the glossary.
        """
        worker, seconds = self._worker, self._worker.seconds
        metrics = {
            "timesteps": float(worker.timesteps),
            "episodes": float(len(worker.returns)),
            "updates": float(worker.agent.updates),
            "steps_per_second": (done - self._done) / max(seconds - self._seconds, 1e-9),
            "seconds": seconds,
            **worker.agent.metrics(),
            **worker.metrics(),
        }
        if self._updates:
            metrics["loss"] = self._loss / self._updates
        if worker.recent_returns:
            metrics["mean_return"] = float(np.mean(worker.recent_returns))
            metrics["mean_length"] = float(np.mean(worker.recent_lengths))
        if worker.restarts:
            metrics["restarts"], metrics["dropped_steps"] = (
                float(worker.restarts),
                float(worker.dropped_steps),
            )
        check_metrics(metrics)
        self._loss, self._updates = 0.0, 0
        self._reported = done
        self.begin(done, seconds)
        return metrics

    def get_state(self) -> dict[str, float]:
        return {"loss": self._loss, "updates": self._updates, "reported": self._reported}

    def set_state(self, state: Mapping[str, Any]) -> None:
        self._loss, self._updates = float(state["loss"]), int(state["updates"])
        self._reported = int(state["reported"])
