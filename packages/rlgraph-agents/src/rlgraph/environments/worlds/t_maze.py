"""A corridor at whose end only the memory of its beginning helps."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.core.errors import SpecError
from rlgraph.environments.environment import Environment, StepResult
from rlgraph.environments.errors import not_running
from rlgraph.spaces import FloatBox, IntBox

EAST, WEST, NORTH, SOUTH = range(4)


class TMaze(Environment):
    """The T-maze of Bakker (2002), https://papers.nips.cc/paper/1953: a sign at the start tells the goal at the end.

    States ``[3]``: the sign, 1 (north) or -1 (south), in the first step of an episode and 0 later; 1 in the corridor
    and 0 elsewhere; 1 at the junction. Actions are `EAST`, `WEST`, `NORTH`, `SOUTH`. At the junction north and south
    end the episode, with a reward of 4 where the sign pointed and of -0.1 at the other side. A move into a wall costs
    0.1, any other nothing. Without memory the mean return is at most 1.95.

    Args:
        length: steps from the start to the junction.
        max_steps: the step that truncates an episode; default: ``10 * length``.
    """

    def __init__(self, length: int = 10, max_steps: int | None = None) -> None:
        for name, number in (("length", length), ("max_steps", max_steps)):
            if number is not None and (isinstance(number, bool) or number < 1):
                raise SpecError(f"expected an integer >= 1, given {number!r}", path=f"TMaze.{name}")
        super().__init__(FloatBox(-1.0, 1.0, shape=(3,)), IntBox(4))
        self.length = length
        self.max_steps = 10 * length if max_steps is None else max_steps
        self._rng = np.random.default_rng()
        self._sign, self._place, self._steps = 0, 0, -1

    def reset(self, seed: int | None = None) -> Any:
        """Begins an episode with a new sign."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._sign, self._place, self._steps = int(self._rng.integers(2)) * 2 - 1, 0, 0
        return self._state()

    def step(self, action: Any) -> StepResult:
        """Moves, if no wall is in the way."""
        if self._steps < 0:
            raise not_running(self.name)
        move = int(action)
        self._steps += 1
        at_junction, reward, terminated = self._place == self.length, 0.0, False
        if move in (NORTH, SOUTH) and at_junction:
            reward, terminated = (4.0 if (move == NORTH) == (self._sign > 0) else -0.1), True
        elif (move == EAST and not at_junction) or (move == WEST and self._place > 0):
            self._place += 1 if move == EAST else -1
        else:
            reward = -0.1
        state, truncated = self._state(), self._steps >= self.max_steps
        if terminated or truncated:
            self._steps = -1
        return state, reward, terminated, truncated, {}

    def _state(self) -> np.ndarray:
        at_junction = self._place == self.length
        sign = self._sign if self._steps == 0 else 0
        return np.array([sign, not at_junction, at_junction], np.float32)

    def get_state(self) -> dict[str, Any]:
        """Sign, place, steps of the episode (-1: over) and the random numbers."""
        own = {"sign": self._sign, "place": self._place, "steps": self._steps}
        return {**own, "rng": self._rng.bit_generator.state}

    def set_state(self, state: Any) -> Any:
        """Restores a state from `get_state`; returns the state to act on."""
        self._sign, self._place, self._steps = (int(state[name]) for name in ("sign", "place", "steps"))
        self._rng.bit_generator.state = state["rng"]
        return self._state()
