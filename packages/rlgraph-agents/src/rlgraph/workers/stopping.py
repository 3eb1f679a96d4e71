"""Conditions that stop training: ``agent.learn(100_000, stop=StopAtReturn(475))``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from math import isfinite

import numpy as np

from rlgraph.core import SpecError
from rlgraph.workers.callbacks import Callback
from rlgraph.workers.evaluation import Evaluation
from rlgraph.workers.worker_view import WorkerView


class StopCondition(Callback):
    """A condition that ends training; a run that had met it is not trained on when it is resumed."""

    def on_start(self, worker: WorkerView, timesteps: int) -> bool:
        return worker.timesteps_of_run > 0 and self.is_met(worker)

    @abstractmethod
    def is_met(self, worker: WorkerView) -> bool:
        """Whether training ends, by what the worker has done."""


class StopAtReturn(StopCondition):
    """Stops training once the mean return of the last episodes reaches a value.

    Args:
        mean: the mean return to reach.
        window: number of last episodes; training continues until there are that many.
    """

    def __init__(self, mean: float, window: int = 100):
        _require(isinstance(window, int) and window >= 1, "window", "an integer >= 1", window)
        _require(isfinite(mean), "mean", "a finite number", mean)
        self.mean, self.window = mean, window

    def on_episode(self, worker: WorkerView, episode_return: float, length: int) -> bool:
        return self.is_met(worker)

    def is_met(self, worker: WorkerView) -> bool:
        last = worker.returns[-self.window :]
        return len(last) == self.window and float(np.mean(last)) >= self.mean


class StopAfterEpisodes(StopCondition):
    """Stops training after `episodes` episodes of the run."""

    def __init__(self, episodes: int):
        _require(isinstance(episodes, int) and episodes >= 1, "episodes", "an integer >= 1", episodes)
        self.episodes = episodes

    def on_episode(self, worker: WorkerView, episode_return: float, length: int) -> bool:
        return self.is_met(worker)

    def is_met(self, worker: WorkerView) -> bool:
        return worker.episodes_of_run >= self.episodes


class StopAfterSeconds(StopCondition):
    """Stops training after `seconds`, including those before a resume; checked at episode ends and reports."""

    def __init__(self, seconds: float):
        _require(seconds > 0, "seconds", "a number above 0", seconds)
        self.seconds = seconds

    def on_episode(self, worker: WorkerView, episode_return: float, length: int) -> bool:
        return self.is_met(worker)

    def on_report(self, worker: WorkerView, metrics: Mapping[str, float]) -> bool:
        return self.is_met(worker)

    def is_met(self, worker: WorkerView) -> bool:
        return worker.seconds >= self.seconds


class StopAtEvaluation(StopCondition):
    """Stops training once an evaluation has a mean return of at least `mean`."""

    def __init__(self, mean: float):
        _require(isfinite(mean), "mean", "a finite number", mean)
        self.mean = mean

    def on_evaluation(self, worker: WorkerView, evaluation: Evaluation) -> bool:
        return self.is_met(worker)

    def is_met(self, worker: WorkerView) -> bool:
        return bool(worker.evaluations) and worker.evaluations[-1].mean >= self.mean


def _require(fits: bool, name: str, expected: str, given: object) -> None:
    if not fits:
        raise SpecError(f"expected {expected}, given {given!r}", path=name)
