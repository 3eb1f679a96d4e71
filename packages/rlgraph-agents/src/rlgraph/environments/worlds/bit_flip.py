"""Bits to be flipped until they are those of a goal: the task of hindsight experience replay."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_whole
from rlgraph.environments.environment import Environment, StepResult
from rlgraph.environments.errors import not_running
from rlgraph.spaces import Dict, FloatBox, IntBox


class BitFlip(Environment):
    """The bit-flipping environment of Andrychowicz et al. (2017), section 3.1, https://arxiv.org/abs/1707.01495.

    States are a Dict as environments with goals have it: ``observation`` and ``achieved_goal``, the bits ``[n]`` as 0
    and 1, and ``desired_goal`` ``[n]``. Both are drawn when an episode begins. Action i flips bit i. A step that
    reaches the goal has the reward 0 and ends the episode, any other has -1. An agent that never reaches a goal cannot
    learn from such rewards, and by chance it reaches one of 2 ** n states.

    Args:
        bits: n.
        max_steps: the step that truncates an episode; default: n.
    """

    def __init__(self, bits: int = 8, max_steps: int | None = None) -> None:
        self.bits = check_whole(bits, "BitFlip.bits", least=1)
        self.max_steps = bits if max_steps is None else check_whole(max_steps, "BitFlip.max_steps", least=1)
        box = FloatBox(0.0, 1.0, shape=(bits,))
        super().__init__(Dict(observation=box, achieved_goal=box, desired_goal=box), IntBox(bits))
        self._rng = np.random.default_rng()
        self._state = self._goal = np.zeros(bits, np.float32)
        self._steps = -1

    def reset(self, seed: int | None = None) -> Any:
        """Begins an episode with new bits and a new goal, which differ."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._state = self._goal = self._drawn()
        while np.array_equal(self._state, self._goal):
            self._goal = self._drawn()
        self._steps = 0
        return self._observed()

    def step(self, action: Any) -> StepResult:
        """Flips a bit."""
        if self._steps < 0:
            raise not_running(self.name)
        self._state = self._state.copy()
        self._state[int(action)] = 1.0 - self._state[int(action)]
        self._steps += 1
        reward = float(self.compute_reward(self._state, self._goal, {}))
        terminated = bool(self.compute_terminated(self._state, self._goal, {}))
        truncated = self._steps >= self.max_steps
        if terminated or truncated:
            self._steps = -1
        return self._observed(), reward, terminated, truncated, {"is_success": terminated}

    def compute_reward(self, achieved_goal: np.ndarray, desired_goal: np.ndarray, info: Any) -> Any:
        """0 where the goal is reached, else -1; of one goal ``[n]`` or of several ``[B, n]``."""
        return self.compute_terminated(achieved_goal, desired_goal, info) - 1.0

    def compute_terminated(self, achieved_goal: np.ndarray, desired_goal: np.ndarray, info: Any) -> Any:
        """Where the goal is reached."""
        return (achieved_goal == desired_goal).all(axis=-1)

    def _drawn(self) -> np.ndarray:
        return self._rng.integers(2, size=self.bits).astype(np.float32)

    def _observed(self) -> dict[str, np.ndarray]:
        return {"observation": self._state, "achieved_goal": self._state, "desired_goal": self._goal}

    def get_state(self) -> dict[str, Any]:
        """Bits, goal, steps of the episode (-1: over) and the random numbers."""
        own = {"bits": self._state.tolist(), "goal": self._goal.tolist(), "steps": self._steps}
        return {**own, "rng": self._rng.bit_generator.state}

    def set_state(self, state: Any) -> Any:
        """Restores a state from `get_state`; returns the state to act on."""
        self._state, self._goal = (np.array(state[name], np.float32) for name in ("bits", "goal"))
        self._steps = int(state["steps"])
        self._rng.bit_generator.state = state["rng"]
        return self._observed()
