"""What a training run tells those who want to know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlgraph.workers.evaluation import Evaluation
    from rlgraph.workers.single_threaded_worker import SingleThreadedWorker


class Callback:
    """Override what you need. Returning True from a method that says so ends the training."""

    def on_start(self, worker: SingleThreadedWorker, timesteps: int) -> None:
        """Training begins; `timesteps` are to be done."""

    def on_episode(self, worker: SingleThreadedWorker, episode_return: float, length: int) -> None:
        """An episode ended: the sum of its rewards, and its number of steps."""

    def on_report(self, worker: SingleThreadedWorker, metrics: Mapping[str, float]) -> None:
        """The metrics of the last report interval.

        ``timesteps``, ``episodes``, ``updates`` (totals), ``mean_return``, ``mean_length`` (last 100 episodes),
        ``loss`` (mean of the interval), ``epsilon``, ``steps_per_second``; those without a value yet are left out.
        """

    def on_evaluation(self, worker: SingleThreadedWorker, evaluation: Evaluation) -> bool | None:
        """An evaluation is done. True ends the training."""

    def on_end(self, worker: SingleThreadedWorker) -> None:
        """Training ended, by itself, by an error or by Ctrl-C."""
