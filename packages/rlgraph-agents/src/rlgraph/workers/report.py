"""The metrics between two reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.core import InputError
from rlgraph.workers.metrics import check_metrics
from rlgraph.workers.worker_view import WorkerView


class Report:
    """Collects what happens between two reports.

    Args:
        worker: the worker.
    """

    def __init__(self, worker: WorkerView):
        self._worker = worker
        self._reported, self._done, self._updates, self._seconds = 0, 0, 0, 0.0
        worker.agent.learner.numbers.take()  # of updates before the run

    def begin(self, done: int, seconds: float) -> None:
        """Begin, or resume, after `done` steps and `seconds`."""
        self._done, self._seconds, self._updates = done, seconds, self._worker.agent.updates

    def is_new(self, done: int) -> bool:
        """Whether there are steps that were not reported."""
        return done > self._reported

    def take(self, done: int) -> dict[str, float]:
        """The metrics since the last report.

        Raises:
            InputError: agent or worker name a metric that is not in the glossary, or an update returns a number by the
                name of another metric.
        """
        worker, seconds = self._worker, self._worker.seconds
        agent, passed = worker.agent, max(seconds - self._seconds, 1e-9)
        updates = agent.updates
        metrics = {
            "timesteps": float(worker.timesteps),
            "episodes": float(len(worker.returns)),
            "updates": float(updates),
            "steps_per_second": (done - self._done) / passed,
            "seconds": seconds,
            **worker.metrics(),
        }
        if updates:
            metrics["updates_per_second"] = (updates - self._updates) / passed
        if worker.recent_returns:
            metrics["mean_return"] = float(np.mean(worker.recent_returns))
            metrics["mean_length"] = float(np.mean(worker.recent_lengths))
        if worker.restarts:
            metrics["restarts"], metrics["dropped_steps"] = (
                float(worker.restarts),
                float(worker.dropped_steps),
            )
        of_agent, numbers = agent.metrics(), agent.learner.take_numbers()
        check_metrics([*metrics, *of_agent])
        for name in numbers:
            if name in metrics:
                raise InputError(
                    f"update of {type(agent).__name__} returns {name!r}, which is the name of another metric of every "
                    "report: rename it"
                )
        self._reported = done
        self.begin(done, seconds)
        return {**metrics, **of_agent, **numbers}

    def get_state(self) -> dict[str, Any]:
        numbers = self._worker.agent.learner.numbers.get_state()
        return {"numbers": numbers, "reported": self._reported}

    def set_state(self, state: Mapping[str, Any]) -> None:
        of_loss = (
            {"loss": (state["loss"], state["updates"])} if state.get("updates") else {}
        )  # of version 0.2
        self._worker.agent.learner.numbers.set_state(of_loss or state.get("numbers", {}))
        self._reported = int(state["reported"])
