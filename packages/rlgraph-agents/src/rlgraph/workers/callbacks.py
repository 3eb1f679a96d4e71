"""Callbacks of a training run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rlgraph.core import SpecError
from rlgraph.core.errors import nearest
from rlgraph.workers.evaluation import Evaluation


@dataclass(frozen=True, slots=True)
class Step:
    """One step of all environments; the step after the next overwrites the arrays, so copy what must live longer.

    Attributes:
        states: the states acted on [N, ...].
        actions: the actions [N, ...].
        rewards: [N], float32.
        terminated, truncated: [N], bool.
        final_states: the states reached, before any reset [N, ...].
        infos: the infos of the environments, N dicts.
        dropped: environments that were restarted; their rows are not transitions.
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
    """Override the methods you need. Returning True from any method but the last stops training.

    Methods that are not overridden are never called. The first argument of each is the `rlgraph.workers.Worker`.

    Raises:
        SpecError: a subclass defines a method ``on_...`` for an unknown event.
    """

    def __init_subclass__(cls, **options: Any):
        super().__init_subclass__(**options)
        events = [name for name in vars(Callback) if name.startswith("on_")]
        for name in vars(cls):
            if name.startswith(("on_", "_on_")) and name not in events:
                raise SpecError(
                    f"{cls.__name__}.{name}: no such event. {nearest(name.removeprefix('_'), events)}"
                )

    def on_start(self, worker: Any, timesteps: int) -> bool | None:
        """Training begins, for `timesteps` steps. What it returns has no effect on learners of a group."""

    def on_step(self, worker: Any, step: Step) -> bool | None:
        """All environments stepped, and the agent observed the step."""

    def on_episode(self, worker: Any, episode_return: float, length: int) -> bool | None:
        """An episode ended: the sum of its rewards, and its number of steps."""

    def on_update(self, worker: Any, results: Mapping[str, Any]) -> bool | None:
        """The agent learned; `results` of the last update, among them ``loss``."""

    def on_evaluation(self, worker: Any, evaluation: Evaluation) -> bool | None:
        """An evaluation is done."""

    def on_checkpoint(self, worker: Any, folder: Path) -> bool | None:
        """A checkpoint is complete in `folder`."""

    def on_report(self, worker: Any, metrics: Mapping[str, float]) -> bool | None:
        """The metrics of the last report interval, by the names of the glossary (`rlgraph.workers.metrics`)."""

    def on_end(self, worker: Any) -> None:
        """Training ended, also by an error or by Ctrl-C."""
