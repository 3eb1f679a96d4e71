"""An environment that shows a part of its states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlgraph.core.errors import SpecError
from rlgraph.environments.environment import Environment, StepResult
from rlgraph.spaces import FloatBox


class PartiallyObservedEnv(Environment):
    """Some of the numbers of another environment's states, to test memory: CartPole without its velocities, say.

    Args:
        env: the other environment, or its spec; its states are floats ``[N]``.
        observed: indices of the numbers that are seen.
    """

    def __init__(self, env: Any, observed: Sequence[int]) -> None:
        from rlgraph.environments.factory import make_environment  # it makes this class, too

        self.env = make_environment(env, path="PartiallyObservedEnv.env")
        space = self.env.state_space
        if not isinstance(space, FloatBox) or len(space.shape) != 1:
            raise SpecError(
                f"expected states that are floats [N], given {space!r}", path="PartiallyObservedEnv.env"
            )
        indices = list(observed)
        if not indices or any(isinstance(i, bool) or i not in range(space.shape[0]) for i in indices):
            raise SpecError(
                f"expected indices from 0 to {space.shape[0] - 1}, given {observed!r}",
                path="PartiallyObservedEnv.observed",
            )
        self._observed = np.array(indices)
        low, high = (
            None if bound is None else np.broadcast_to(bound, space.shape)[indices]
            for bound in (space.low, space.high)
        )
        super().__init__(FloatBox(low, high, shape=(len(indices),)), self.env.action_space)

    def reset(self, seed: int | None = None) -> Any:
        """Begins an episode of the other environment."""
        return self._seen(self.env.reset(seed=seed))

    def step(self, action: Any) -> StepResult:
        """Acts in the other environment."""
        state, *others = self.env.step(action)
        return self._seen(state), *others  # type: ignore[return-value]

    def _seen(self, state: Any) -> np.ndarray:
        return np.asarray(state)[self._observed]

    def render(self) -> Any:
        """A picture of the other environment."""
        return self.env.render()

    def get_state(self) -> Any:
        """That of the other environment."""
        return self.env.get_state()

    def set_state(self, state: Any) -> Any:
        """Restores a state from `get_state`; returns the state to act on."""
        return self._seen(self.env.set_state(state))

    def terminate(self) -> None:
        """Releases the other environment."""
        self.env.terminate()
