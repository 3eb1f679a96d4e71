"""Gymnasium's vector class of CartPole, with resets within the step."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.envs.classic_control import cartpole
from gymnasium.vector import AutoresetMode


class CartPoleVectorEnv(cartpole.CartPoleVectorEnv):
    """As Gymnasium's class, whose resets take a step of their own; here every row of a step is a transition."""

    metadata = {**cartpole.CartPoleVectorEnv.metadata, "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012 - as Gymnasium declares it
    state: Any

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
