"""Gymnasium's vector class of CartPole, with resets within the step."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.classic_control import cartpole
from gymnasium.vector import AutoresetMode


class CartPoleVectorEnv(cartpole.CartPoleVectorEnv):
    """Gymnasium's class, but for its step: resets take no step of their own, so every row of a step is a transition.

    The poles move bit for bit as Gymnasium's, with the same attributes (`gravity`, `length` ...).
    """

    metadata = {**cartpole.CartPoleVectorEnv.metadata, "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012 - as Gymnasium declares it
    state: Any
    steps: Any

    def step(self, action: Any) -> Any:
        """As Gymnasium's. Poles that end begin again; ``infos["final_obs"]`` has the states that they had led to.

        Raises:
            ValueError: actions other than an integer 0 or 1 for each pole.
            gymnasium.error.ResetNeeded: before the first `reset`.
        """
        actions = np.asarray(action)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iub" or not _all_0_or_1(actions):
            raise ValueError(f"expected 0 or 1 for each of {self.num_envs} poles, given {action!r}")
        if self.state is None:
            raise gymnasium.error.ResetNeeded("expected a call of reset() before step()")
        self._move(np.array((-self.force_mag, self.force_mag)).take(actions))
        self.steps += 1
        limits = np.array(((self.x_threshold,), (self.theta_threshold_radians,)))
        terminated = np.logical_or.reduce(np.abs(self.state[::2]) > limits)
        truncated = self.steps >= self.max_episode_steps
        rewards = -np.float32(terminated) if self._sutton_barto_reward else np.ones(self.num_envs, np.float32)
        observations, ended = self.state.T.astype(np.float32), terminated | truncated
        count = np.count_nonzero(ended)
        if not count:
            return observations, rewards, terminated, truncated, {}
        self.state[:, ended] = self.np_random.uniform(self.low, self.high, (4, count))
        self.steps[ended] = 0
        final = {"final_obs": observations, "_final_obs": ended}
        return self.state.T.astype(np.float32), rewards, terminated, truncated, final

    def _move(self, force: Any) -> None:
        """Barto, Sutton and Anderson (1983), in the form of https://coneural.org/florian/papers/05_cart_pole.pdf."""
        state = self.state = self.state.copy()
        _, _, angle, turning = state
        sin, cos = np.sin(angle), np.cos(angle)
        push = (force + self.polemass_length * np.square(turning) * sin) / self.total_mass
        inertia = self.length * (4.0 / 3.0 - self.masspole * np.square(cos) / self.total_mass)
        angular = (self.gravity * sin - cos * push) / inertia
        linear = push - self.polemass_length * angular * cos / self.total_mass
        places, speeds = state[::2], state[1::2]  # each of the cart, then of the pole
        if self.kinematics_integrator == "euler":
            places += self.tau * speeds
        speeds += self.tau * np.array((linear, angular))
        if self.kinematics_integrator != "euler":
            places += self.tau * speeds


def _all_0_or_1(actions: Any) -> bool:
    """Integers ``[N]``: the bits of another number are found in one pass."""
    return np.bitwise_or.reduce(actions) in (0, 1)
