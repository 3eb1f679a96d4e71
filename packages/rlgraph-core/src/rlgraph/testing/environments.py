"""Environments of which everything is known beforehand, for tests of what acts in environments."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.spaces import FloatBox, IntBox, Space


class CountingEnvironment:
    """States ``[1]`` count 0, 1, 2, ... in every episode; the reward of a step is its action plus ``10 * count``.

    Args:
        steps_to_end: the step that ends an episode.
        truncates: episodes are truncated, else terminated.
        fails_at: the step of the first episode that raises a `RuntimeError`; None: none does.
        state_space, action_space: other Spaces than ``FloatBox(shape=(1,))`` and ``IntBox(4)``.
    """

    def __init__(
        self,
        steps_to_end: int = 3,
        truncates: bool = False,
        fails_at: int | None = None,
        state_space: Space | None = None,
        action_space: Space | None = None,
    ):
        self.state_space = state_space or FloatBox(shape=(1,))
        self.action_space = action_space or IntBox(4)
        self.steps_to_end, self.truncates, self.fails_at = steps_to_end, truncates, fails_at
        self.seeds: list[int | None] = []
        self.actions: list[Any] = []
        self.is_terminated = False

    def reset(self, seed: int | None = None) -> Any:
        """Begin at 0."""
        self.seeds.append(seed)
        self.count = 0
        return self._state()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Count one further."""
        if self.count == self.fails_at and len(self.seeds) == 1:
            raise RuntimeError("out of order")
        self.actions.append(action)
        number = float(np.sum([np.sum(part) for part in self.action_space.flatten_sample(action).values()]))
        reward = number + 10.0 * self.count
        self.count += 1
        ended = self.count == self.steps_to_end
        return self._state(), reward, ended and not self.truncates, ended and self.truncates, {}

    def terminate(self) -> None:
        """Remember that it was called."""
        self.is_terminated = True

    def _state(self) -> Any:
        return self.state_space.map_leaves(lambda _path, box: np.full(box.shape, self.count, box.dtype))
