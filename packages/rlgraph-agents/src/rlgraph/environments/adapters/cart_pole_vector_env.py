"""Gymnasium's vector class of CartPole, with resets within the step."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.classic_control import cartpole
from gymnasium.vector import AutoresetMode

#: Up to this many poles are moved faster one by one, in Python's numbers.
_FEW = 16


class CartPoleVectorEnv(cartpole.CartPoleVectorEnv):
    """Gymnasium's class, but for its step: resets take no step of their own, so every row of a step is a transition.

    The poles move bit for bit as Gymnasium's, with the same attributes (`gravity`, `length` ...).
    """

    metadata = {**cartpole.CartPoleVectorEnv.metadata, "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012 - as Gymnasium declares it
    state: Any
    steps: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._ones = np.ones(self.num_envs, np.float32)

    def step(self, action: Any) -> Any:
        """As Gymnasium's. Poles that end begin again; ``infos["final_obs"]`` has all states before that.

        Raises:
            ValueError: actions other than an integer 0 or 1 for each pole.
            gymnasium.error.ResetNeeded: before the first `reset`.
        """
        actions = np.asarray(action)
        fits = actions.shape == (self.num_envs,) and actions.dtype.kind in "iub"
        # In one pass: a number other than 0 and 1 has some other bit.
        if not fits or int(np.bitwise_or.reduce(actions)) not in (0, 1):
            raise ValueError(f"expected 0 or 1 for each of {self.num_envs} poles, given {action!r}")
        if self.state is None:
            raise gymnasium.error.ResetNeeded("expected a call of reset() before step()")
        terminated = self._move(np.array((-self.force_mag, self.force_mag)).take(actions))
        self.steps += 1
        truncated = self.steps >= self.max_episode_steps
        rewards = -np.float32(terminated) if self._sutton_barto_reward else self._ones.copy()
        observations, ended = self.state.T.astype(np.float32), terminated | truncated
        if b"\1" not in ended.tobytes():
            return observations, rewards, terminated, truncated, {}
        self.state[:, ended] = self.np_random.uniform(self.low, self.high, (4, np.count_nonzero(ended)))
        self.steps[ended] = 0
        final = {"final_obs": observations, "_final_obs": ended}
        return self.state.T.astype(np.float32), rewards, terminated, truncated, final

    def _move(self, forces: Any) -> Any:
        """Move all poles; which of them fell or left the track."""
        angles = self.state[2]
        given: tuple[Any, ...] = (forces, *self.state, np.sin(angles), np.cos(angles))
        if self.num_envs <= _FEW and self._is_of_python_numbers():
            *state, terminated = zip(*map(self._moved, *(part.tolist() for part in given)), strict=True)
        else:
            *state, terminated = self._moved(*given)
        self.state = np.array(state)
        return np.array(terminated)

    def _is_of_python_numbers(self) -> bool:
        """Whether no attribute is a number of NumPy, in whose precision Python would compute, or one for each pole."""
        lengths = (self.length, self.polemass_length, self.x_threshold, self.theta_threshold_radians)
        others = (self.gravity, self.masspole, self.total_mass, self.tau)
        return {float, int}.issuperset(map(type, (*lengths, *others)))

    def _moved(
        self, force: Any, place: Any, speed: Any, angle: Any, turning: Any, sin: Any, cos: Any
    ) -> tuple[Any, ...]:
        """The next state of a pole, or of all, and whether it ends the episode.

        Barto, Sutton and Anderson (1983), in the form of https://coneural.org/florian/papers/05_cart_pole.pdf.
        """
        push = (force + self.polemass_length * (turning * turning) * sin) / self.total_mass
        inertia = self.length * (4.0 / 3.0 - self.masspole * (cos * cos) / self.total_mass)
        angular = (self.gravity * sin - cos * push) / inertia
        linear = push - self.polemass_length * angular * cos / self.total_mass
        next_speed, next_turning = speed + self.tau * linear, turning + self.tau * angular
        if self.kinematics_integrator != "euler":  # places follow from the new speeds
            speed, turning = next_speed, next_turning
        place, angle = place + self.tau * speed, angle + self.tau * turning
        ends = (abs(place) > self.x_threshold) | (abs(angle) > self.theta_threshold_radians)
        return place, next_speed, angle, next_turning, ends
