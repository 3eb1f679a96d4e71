"""What a training run tells those who want to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rlgraph.workers.evaluation import Evaluation
    from rlgraph.workers.single_threaded_worker import SingleThreadedWorker


@dataclass(frozen=True, slots=True)
class Step:
    """One step of all environments; the arrays are overwritten by the step after the next, copy what has to live.

    Attributes:
        states: acted on [N, ...].
        actions: done [N, ...].
        rewards: [N], float32.
        terminated, truncated: [N], bool.
        final_states: the states reached, before any reset [N, ...].
        infos: what the environments said besides, N dicts.
        dropped: environments that were restarted; their rows are no transitions.
    """

    states: Any
    actions: Any
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    final_states: Any
    infos: Any
    dropped: tuple[int, ...] = ()


class Callback:
    """Override what you need. Returning True from any method but the first and the last ends the training.

    What is not overridden costs nothing, not even a call.
    """

    def on_start(self, worker: SingleThreadedWorker, timesteps: int) -> None:
        """Training begins; `timesteps` are to be done."""

    def on_step(self, worker: SingleThreadedWorker, step: Step) -> bool | None:
        """All environments did a step, and it was observed."""

    def on_episode(self, worker: SingleThreadedWorker, episode_return: float, length: int) -> bool | None:
        """An episode ended: the sum of its rewards, and its number of steps."""

    def on_update(self, worker: SingleThreadedWorker, results: Mapping[str, Any]) -> bool | None:
        """The agent learned; `results` of the last update that was due, among them ``loss``."""

    def on_evaluation(self, worker: SingleThreadedWorker, evaluation: Evaluation) -> bool | None:
        """An evaluation is done."""

    def on_checkpoint(self, worker: SingleThreadedWorker, folder: Path) -> bool | None:
        """A checkpoint is complete in `folder`."""

    def on_report(self, worker: SingleThreadedWorker, metrics: Mapping[str, float]) -> bool | None:
        """The metrics of the last report interval, by the names of the glossary (`rlgraph.workers.metrics`)."""

    def on_end(self, worker: SingleThreadedWorker) -> None:
        """Training ended, by itself, by an error or by Ctrl-C."""
