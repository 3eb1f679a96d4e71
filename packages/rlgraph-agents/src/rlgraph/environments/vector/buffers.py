"""The arrays that hold one step of a vector environment."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.environments.rows import Rows, slice_rows
from rlgraph.spaces import Space


class Buffers:
    """The arrays of one step.

    Attributes:
        states: the states to act on next, `[N, ...]`.
        final_states: the states that the step led to, if an episode ended.
        rewards: `[N]` float32.
        terminated, truncated: `[N]` bool.
        ended: whether `terminated` or `truncated` may contain a True.
    """

    def __init__(
        self,
        states: Rows,
        final_states: Rows,
        rewards: np.ndarray[Any, Any],
        terminated: np.ndarray[Any, Any],
        truncated: np.ndarray[Any, Any],
    ) -> None:
        self.states, self.final_states, self.rewards = states, final_states, rewards
        self.terminated, self.truncated = terminated, truncated
        self.ended = True

    @classmethod
    def zeros(cls, state_space: Space, size: int) -> Buffers:
        """New arrays."""
        return cls(
            state_space.zeros(size),
            state_space.zeros(size),
            np.zeros(size, np.float32),
            np.zeros(size, np.bool_),
            np.zeros(size, np.bool_),
        )

    def part(self, rows: slice) -> Buffers:
        """Some of the rows, as views."""
        states, final_states = slice_rows(self.states, rows), slice_rows(self.final_states, rows)
        return Buffers(states, final_states, self.rewards[rows], self.terminated[rows], self.truncated[rows])
