"""An environment that returns samples of its Spaces, for tests of shapes and containers."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.core.errors import SpecError
from rlgraph.environments.environment import Environment, StepResult
from rlgraph.environments.errors import not_running
from rlgraph.spaces import Space

FIXED_SEED = 10
"""The seed of `deterministic=True`."""


class RandomEnv(Environment):
    """States and rewards are samples of their Spaces; each step terminates with probability `terminal_prob`.

    Args:
        state_space: the Space of states, or the shorthand of one.
        action_space: the Space of actions, which have no effect.
        reward_space: the scalar Space of rewards, or its shorthand; None: standard normal.
        terminal_prob: the probability that a step is the last of its episode.
        deterministic: the default of `seed` is 10, so that two environments give the same samples.
        seed: the seed of the first reset, unless `reset` is given one.
    """

    def __init__(
        self,
        state_space: Any,
        action_space: Any,
        reward_space: Any = None,
        terminal_prob: float = 0.1,
        deterministic: bool = False,
        seed: int | None = None,
    ) -> None:
        if not 0.0 <= terminal_prob <= 1.0:
            raise SpecError(f"terminal_prob is a probability, got {terminal_prob}.", path="RandomEnv")
        super().__init__(Space.from_spec(state_space), Space.from_spec(action_space))
        self.reward_space = Space.from_spec(float if reward_space is None else reward_space)
        if np.shape(self.reward_space.sample(rng=np.random.default_rng(0))) != ():
            raise SpecError(f"reward_space is a scalar Space, got {self.reward_space!r}.", path="RandomEnv")
        self.terminal_prob = terminal_prob
        self._rng = np.random.default_rng(FIXED_SEED if deterministic and seed is None else seed)
        self._state: Any = None
        self._running = False

    def reset(self, seed: int | None = None) -> Any:
        """A sample of the state space."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self._running = True
        self._state = self.state_space.sample(rng=self._rng)
        return self._state

    def step(self, action: Any) -> StepResult:
        """A sample of the state space and one of the reward space."""
        if not self._running:
            raise not_running(self.name)
        state = self._state = self.state_space.sample(rng=self._rng)
        reward = float(self.reward_space.sample(rng=self._rng))
        terminated = bool(self._rng.random() < self.terminal_prob)
        self._running = not terminated
        return state, reward, terminated, False, {}

    def get_state(self) -> dict[str, Any] | None:
        """The random numbers and the current state; None before the first reset."""
        if self._state is None:
            return None
        return {"random": self._rng.bit_generator.state, "state": self._state, "running": self._running}

    def set_state(self, state: Any) -> Any:
        """Restores a state from `get_state`; returns the state to act on."""
        self._rng.bit_generator.state = state["random"]
        self._state, self._running = state["state"], state["running"]
        return self._state
