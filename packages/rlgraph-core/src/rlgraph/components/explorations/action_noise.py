"""Exploration by noise on continuous actions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from rlgraph.components.common.schedules import Schedule
from rlgraph.components.explorations.exploration import Exploration, action_batch
from rlgraph.core import SpecError, graph_fn, rlgraph_api
from rlgraph.core.specs.spec_types import SpaceSpec
from rlgraph.spaces import FloatBox


class ActionNoise(Exploration):
    """Adds noise to the float parts of actions, and clips them to their bounds; other parts do not change.

    Subclasses define the noise in `draw`.

    Raises:
        SpecError: the action has no floats, or the schedule is invalid.
    """

    def __init__(self, action_space: SpaceSpec, amount: Schedule, scope: str = "exploration", **kwargs: Any):
        super().__init__(action_space, amount, scope=scope, **kwargs)
        self.floats = {path: box for path, box in self.boxes.items() if isinstance(box, FloatBox)}
        if not self.floats:
            raise SpecError(
                f"expected an action with floats, given {self.action_space!r}; for categorical actions "
                'use "epsilon_greedy" or "noisy_greedy"',
                path=scope,
            )

    @abstractmethod
    def draw(self, path: str, shape: tuple[int, ...], amount: float) -> Any:
        """The noise of the next step for one part of the actions: an array of `shape` ``[B, ...]`` or a number.

        Called in a host function, where host variables are arrays and ``self.rng`` is available.

        Args:
            path: path of the part; "" for an action without parts.
            shape: shape of the batch of actions.
            amount: the current value of the schedule.
        """

    def metrics(self, progress: float) -> dict[str, float]:
        """``{"noise_scale": scale of the noise}``."""
        return {"noise_scale": self.amount.value(progress)}

    @rlgraph_api
    def get_action(
        self, actions: Any, progress: Any = None, use_exploration: Any = None, observations: Any = None
    ) -> Any:
        """``actions [B, ...]`` (or a container) ``-> [B, ...]``.

        Args:
            actions: the actions of the policy.
            progress: the fraction of training done, []; not needed for a constant scale.
            use_exploration: False returns the actions unchanged; a Python bool or a tensor [].
            observations: not used; a mask concerns categorical parts, which get no noise.
        """
        if use_exploration is False:
            return actions
        self.amount.need_time(progress, self.scope_path)
        return self._explore(actions, progress, None if use_exploration is True else use_exploration)

    @graph_fn(host=True, spaces=action_batch)
    def _explore(self, actions: Any, progress: Any = None, use_exploration: Any = None) -> Any:
        if use_exploration is not None and not use_exploration:
            return actions
        amount = self.amount.value(0.0 if progress is None else float(progress))
        return self.with_noise(actions, lambda path, shape: self.draw(path, shape, amount))

    def with_noise(self, actions: Any, noise: Callable[[str, tuple[int, ...]], Any]) -> Any:
        """``actions`` plus ``noise(path, shape)`` in their float parts, inside their bounds; for host functions."""
        if isinstance(self.action_space, FloatBox):
            return self._noisy("", actions, noise)
        parts = self.action_space.flatten_sample(actions)
        for path in self.floats:
            parts[path] = self._noisy(path, parts[path], noise)
        return self.action_space.unflatten_sample(parts)

    def _noisy(
        self, path: str, actions: np.ndarray, noise: Callable[[str, tuple[int, ...]], Any]
    ) -> np.ndarray:
        """Bounds are of the dtype of the actions, so that rounding cannot leave them."""
        box, dtype = self.floats[path], actions.dtype
        noisy = (actions + noise(path, actions.shape)).astype(dtype, copy=False)
        if box.low is not None or box.high is not None:
            low, high = (None if bound is None else np.asarray(bound, dtype) for bound in (box.low, box.high))
            noisy = np.clip(noisy, low, high)
        return noisy
