"""Where a training run stands, and what is due when.

**Reset points.** A checkpoint must not change what a run does, whether it is resumed from there or not. Environments
that can tell their whole state go on exactly. All others are reset at every checkpoint, in the run that is not
resumed too: their episodes are cut there as a truncation cuts them, and count in no statistics. The seed of the new
ones follows from the agent's seed and its steps so far.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import inf
from typing import Any

from rlgraph.workers.report import Report
from rlgraph.workers.worker_view import WorkerView


class RunSchedule:
    """The schedule of one run of a worker: where it stands, and what is due when.

    Attributes:
        done: steps done, those before a resume among them.
        episodes: how many of them end the run.
        next_event: steps after which the next thing is due.
        environments: states of the environments to go on from; None: they begin new episodes.
        episodes_before, updates_before, evaluations_before: what worker and agent had done before the run.
    """

    def __init__(self, worker: WorkerView):
        self.done = 0
        self.next_event: float = inf
        self.environments: list[Any] | None = None
        self.episodes_before, self.evaluations_before = len(worker.returns), len(worker.evaluations)
        self.updates_before = worker.agent.updates
        self.report = Report(worker)
        self._worker, self._schedule_timesteps = worker, worker.schedule_timesteps
        self._intervals = {
            "report": worker.report_interval or inf,
            "evaluation": worker.evaluation_interval or inf,
            "checkpoint": worker.checkpoint_interval or inf,
        }
        self._due: dict[str, float] = {}
        self._timesteps: float = inf
        self.episodes: float = inf
        self._span: float = inf
        self._done_before, self._counts_episodes = 0, False
        self._stopped = False
        self._seconds = 0.0
        self._since: float | None = None

    def start(self, timesteps: int | None, episodes: int | None) -> None:
        """The run begins, or goes on: up to so many steps or episodes."""
        self._timesteps = inf if timesteps is None else timesteps
        self.episodes = inf if episodes is None else episodes
        self._due = {name: _next(self.done, interval) for name, interval in self._intervals.items()}
        self.next_event = min(self._due.values())
        if self._schedule_timesteps is not None:
            # Schedules run over steps of the agent, those before this run included.
            self._span, self._done_before = self._schedule_timesteps, self._worker.timesteps - self.done
        else:
            self._span, self._done_before = self._timesteps, 0
            self._counts_episodes = episodes is not None
        self._since = time.perf_counter()
        self.report.begin(self.done, self._seconds)

    def follow(self) -> None:
        """The run belongs to another learner, which reports, evaluates and writes checkpoints."""
        self._intervals, self.environments = dict.fromkeys(self._intervals, inf), None

    @property
    def is_over(self) -> bool:
        return self._stopped or self.done >= self._timesteps

    @property
    def fraction(self) -> float:
        """How much of the run is done, or of the steps that schedules run over, 0 to 1."""
        return self.fraction_at(self.done)

    def fraction_at(self, done: int) -> float:
        """`fraction` when `done` steps were done."""
        if self._counts_episodes:
            return min(self._worker.episodes_of_run / self.episodes, 1.0)
        fraction = (done + self._done_before) / self._span
        return fraction if fraction < 1.0 else 1.0

    def stop_if(self, wanted: bool) -> None:
        """End the run after the current step if `wanted`."""
        self._stopped = self._stopped or wanted

    def take_due(self, event: str) -> bool:
        """Whether `event` is due; then the next one is an interval away."""
        if self.done < self._due[event]:
            return False
        self._due[event] = _next(self.done, self._intervals[event])
        self.next_event = min(self._due.values())
        return True

    # Time.

    @property
    def seconds(self) -> float:
        """Time of training, pauses left out."""
        return self._seconds + (0.0 if self._since is None else time.perf_counter() - self._since)

    def stop_clock(self) -> None:
        self._seconds, self._since = self.seconds, None

    @contextmanager
    def pause(self) -> Iterator[None]:
        """What is done inside is no training."""
        self.stop_clock()
        try:
            yield
        finally:
            self._since = time.perf_counter()

    # Going on.

    def get_state(self) -> dict[str, Any]:
        return {
            "done": self.done,
            "seconds": self._seconds,
            "episodes_before": self.episodes_before,
            "evaluations_before": self.evaluations_before,
            "updates_before": self.updates_before,
            "environments": self.environments,
            "report": self.report.get_state(),
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        self.done, self._seconds = int(state["done"]), float(state["seconds"])
        for name in ("episodes_before", "evaluations_before", "updates_before"):
            setattr(self, name, int(state[name]))
        self.environments = state["environments"]
        self.report.set_state(state["report"])


def _next(done: int, interval: float) -> float:
    """The next multiple of `interval`."""
    return inf if interval == inf else (done // interval + 1) * interval
