"""An environment that counts: every state, reward and end is known in advance."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.core.errors import SpecError
from rlgraph.environments.environment import Environment, StepResult
from rlgraph.environments.errors import not_running
from rlgraph.spaces import FloatBox, IntBox


class DeterministicEnv(Environment):
    """States `[1]` count `state_start, state_start + 1, ...`; rewards `reward_start, reward_start + 1, ...`.

    Actions (0 or 1) change nothing.

    Args:
        steps_to_terminal: the step that terminates an episode.
        reward_start: the reward of the first step.
        state_start: the state of a reset.
        steps_to_truncation: the step that truncates an episode; None: no truncation.
    """

    def __init__(
        self,
        steps_to_terminal: int = 10,
        reward_start: float = -100.0,
        state_start: float = 0.0,
        steps_to_truncation: int | None = None,
    ) -> None:
        if steps_to_terminal < 1 or (steps_to_truncation is not None and steps_to_truncation < 1):
            raise SpecError(
                "an episode has at least one step, "
                f"got steps_to_terminal={steps_to_terminal}, steps_to_truncation={steps_to_truncation}.",
                path="DeterministicEnv",
            )
        super().__init__(FloatBox(shape=(1,)), IntBox(2))
        self.steps_to_terminal = steps_to_terminal
        self.steps_to_truncation = steps_to_truncation
        self.reward_start = reward_start
        self.state_start = state_start
        self._steps: int | None = None

    def reset(self, seed: int | None = None) -> Any:
        """Counts from the start again; nothing is random, so `seed` has no effect."""
        self._steps = 0
        return np.array([self.state_start], np.float32)

    def step(self, action: Any) -> StepResult:
        """Counts one step; `action` has no effect."""
        if self._steps is None:
            raise not_running(self.name)
        reward = self.reward_start + self._steps
        self._steps += 1
        state = np.array([self.state_start + self._steps], np.float32)
        terminated = self._steps >= self.steps_to_terminal
        truncated = self.steps_to_truncation is not None and self._steps >= self.steps_to_truncation
        if terminated or truncated:
            self._steps = None
        return state, reward, terminated, truncated, {}

    def get_state(self) -> dict[str, Any]:
        """The number of steps of the running episode; None between episodes."""
        return {"steps": self._steps}

    def set_state(self, state: Any) -> Any:
        """Restores a state from `get_state`; returns the state to act on."""
        self._steps = state["steps"]
        return np.array([self.state_start + (self._steps or 0)], np.float32)
