"""Gymnasium's vector class of CartPole, with resets within the step."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.envs.classic_control import cartpole
from gymnasium.spaces import MultiDiscrete
from gymnasium.vector import AutoresetMode


class CartPoleVectorEnv(cartpole.CartPoleVectorEnv):
    """As Gymnasium's class, whose resets take a step of their own; here every row of a step is a transition."""

    metadata = {**cartpole.CartPoleVectorEnv.metadata, "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012 - as Gymnasium declares it
    state: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.action_space = _Pushes(self.action_space.nvec)  # type: ignore[attr-defined]

    def step(self, action: Any) -> Any:
        observations, rewards, terminated, truncated, infos = super().step(action)
        ended = self.prev_done
        if not np.count_nonzero(ended):
            return observations, rewards, terminated, truncated, infos
        self.state[:, ended] = self.np_random.uniform(self.low, self.high, (4, np.count_nonzero(ended)))
        self.steps[ended] = 0
        self.prev_done = np.zeros_like(ended)  # or the next step would reset again
        final = {"final_obs": observations, "_final_obs": ended}
        return self.state.T.astype(np.float32), rewards, terminated, truncated, infos | final


class _Pushes(MultiDiscrete):
    """The actions, 0 or 1 for each environment. Gymnasium's own check of them takes a fifth of a step."""

    def contains(self, x: Any) -> bool:
        if isinstance(x, np.ndarray) and x.dtype == self.dtype and x.shape == self.shape:
            return bool(x.min() >= 0 and x.max() <= 1)
        return super().contains(x)
