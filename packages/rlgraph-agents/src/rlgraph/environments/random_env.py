"""An environment of noise: whatever the Spaces allow, for tests of shapes and containers."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.core.errors import SpecError
from rlgraph.environments.environment import Environment, StepResult
from rlgraph.environments.errors import EnvironmentFault
from rlgraph.spaces import Space


class RandomEnv(Environment):
    """States and rewards are samples of their Spaces; each step terminates with probability `terminal_prob`.

    Args:
        state_space: the Space of states, or the shorthand of one.
        action_space: the Space of actions; they change nothing.
        reward_space: the scalar Space of rewards; `float`: standard normal.
        terminal_prob: the probability that a step is the last of its episode.
        seed: the seed of the first reset, where that is given none.
    """

    def __init__(
        self,
        state_space: Any,
        action_space: Any,
        reward_space: Any = float,
        terminal_prob: float = 0.05,
        seed: int | None = None,
    ) -> None:
        if not 0.0 <= terminal_prob <= 1.0:
            raise SpecError(f"RandomEnv: terminal_prob is a probability, got {terminal_prob}.")
        super().__init__(Space.from_spec(state_space), Space.from_spec(action_space))
        self.reward_space = Space.from_spec(reward_space)
        self.terminal_prob = terminal_prob
        self._rng = np.random.default_rng(seed)
        self._running = False

    def reset(self, seed: int | None = None) -> Any:
        """A sample of the state space."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._running = True
        return self.state_space.sample(rng=self._rng)

    def step(self, action: Any) -> StepResult:
        """A sample of the state space and one of the reward space."""
        if not self._running:
            raise EnvironmentFault(
                f"{self.name}: the episode is over or has not begun; call reset() before step()."
            )
        state = self.state_space.sample(rng=self._rng)
        reward = float(self.reward_space.sample(rng=self._rng))
        terminated = bool(self._rng.random() < self.terminal_prob)
        self._running = not terminated
        return state, reward, terminated, False, {}
