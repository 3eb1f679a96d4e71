"""A task whose states are a picture and a vector, of which an agent needs both."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.core import SpecError
from rlgraph.environments.environment import Environment, StepResult
from rlgraph.environments.errors import not_running
from rlgraph.spaces import Dict, FloatBox, IntBox

SIZE = 10


class TargetQuadrant(Environment):
    """The picture shows two objects, the vector says which one is the target; the action names its quadrant.

    ``"picture" [10, 10, 2]`` of bytes has a channel for each object, 255 where it is; ``"target" [2]`` is one-hot.
    Actions: 0 top left, 1 top right, 2 bottom left, 3 bottom right. The right action is rewarded with 1. Each step
    draws new places and a new target. Episodes are truncated after 20 steps. The best mean return is 20, that of random
    actions 5. With the picture only it is at most 12.5, since both objects are in the same quadrant one time in four;
    with the vector only it is 5.

    Args:
        hidden: the part of the states that is all zeros, ``"picture"`` or ``"target"``; None: none.
        seed: the seed of the first reset, unless `reset` is given one.

    Raises:
        SpecError: an unknown part.
    """

    LENGTH = 20

    def __init__(self, hidden: str | None = None, seed: int | None = None) -> None:
        states = Dict(
            picture=IntBox(256, shape=(SIZE, SIZE, 2), dtype="uint8"), target=FloatBox(0.0, 1.0, shape=(2,))
        )
        if hidden is not None and hidden not in states:
            raise SpecError(f"expected 'picture', 'target' or None, given {hidden!r}", path="hidden")
        super().__init__(states, IntBox(4))
        self._hidden = hidden
        self._rng = np.random.default_rng(seed)
        #: Rows and columns [2, 2] of the objects, and which of them is the target.
        self._places, self._target = np.zeros((2, 2), np.int64), 0
        self._steps, self._running = 0, False

    def reset(self, seed: int | None = None) -> Any:
        """New places and a new target."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._steps, self._running = 0, True
        return self._next_state()

    def _next_state(self) -> Any:
        self._places, self._target = self._rng.integers(SIZE, size=(2, 2)), int(self._rng.integers(2))
        return self._state()

    def _state(self) -> Any:
        picture, target = np.zeros((SIZE, SIZE, 2), np.uint8), np.zeros(2, np.float32)
        for channel, (row, column) in enumerate(self._places):
            picture[row, column, channel] = 255
        target[self._target] = 1.0
        state: dict[str, np.ndarray] = {"picture": picture, "target": target}
        if self._hidden is not None:
            state[self._hidden][...] = 0
        return state

    def step(self, action: Any) -> StepResult:
        """Whether `action` is the target's quadrant, and the next picture and target."""
        if not self._running:
            raise not_running(self.name)
        self._steps += 1
        is_low, is_right = self._places[self._target] >= SIZE // 2
        reward = float(int(action) == 2 * is_low + is_right)
        is_over = self._steps == self.LENGTH
        self._running = not is_over
        return self._next_state(), reward, False, is_over, {}

    def get_state(self) -> dict[str, Any] | None:
        """The random numbers, the places, the target and the step; None before the first reset."""
        if not self._steps and not self._running:
            return None
        return {
            "random": self._rng.bit_generator.state,
            "places": self._places.tolist(),
            "target": self._target,
            "steps": self._steps,
            "running": self._running,
        }

    def set_state(self, state: Any) -> Any:
        """Restores a state from `get_state`; returns the state to act on."""
        self._rng.bit_generator.state = state["random"]
        self._places, self._target = np.array(state["places"]), state["target"]
        self._steps, self._running = state["steps"], state["running"]
        return self._state()
