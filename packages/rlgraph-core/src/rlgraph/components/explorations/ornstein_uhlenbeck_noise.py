"""Time-correlated noise on actions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_number, check_whole
from rlgraph.components.common.schedules import Schedule
from rlgraph.components.explorations.action_noise import ActionNoise
from rlgraph.core import InputError, SpecError, graph_fn, rlgraph_api
from rlgraph.core.specs.spec_types import ScheduleSpec, SpaceSpec
from rlgraph.spaces import FloatBox, IntBox, Space
from rlgraph.spaces.errors import mismatch


class OrnsteinUhlenbeckNoise(ActionNoise):
    """``actions + x``, where ``x <- x + theta (mu - x) dt + sigma sqrt(dt) N(0, 1)`` at every step.

    Uhlenbeck and Ornstein (1930), discretized by Euler-Maruyama; used by Lillicrap et al. (2016), section 7,
    https://arxiv.org/abs/1509.02971. With ``phi = 1 - theta dt`` the noise of two times k steps apart has the
    correlation ``phi^k``, and in the long run the variance ``sigma^2 dt / (1 - phi^2)``.

    Row i of a batch of actions is environment i, with its own ``x`` for each float. ``x`` starts at `mu`, and again
    after `reset`.

    Args:
        action_space: the Space of one action; it has floats.
        theta: rate of return to `mu`, per unit of time.
        sigma: scale of the random steps, over training (see `Schedule.from_spec`).
        mu: mean of the noise, in units of the actions.
        dt: duration of a step.
        num_environments: the largest number of environments.
        scope: name among its siblings.

    Raises:
        SpecError: the action has no floats, the schedule is invalid, `sigma` is below 0, or ``theta * dt`` makes the
            noise diverge.
        InputError: more actions than environments.
    """

    def __init__(
        self,
        action_space: SpaceSpec,
        theta: float = 0.15,
        sigma: ScheduleSpec = 0.2,
        mu: float = 0.0,
        dt: float = 1.0,
        num_environments: int = 64,
        scope: str = "exploration",
        **kwargs: Any,
    ):
        self.mu = check_number(mu, f"{scope}.mu")
        self.theta = check_number(theta, f"{scope}.theta", above=0)
        self.dt = check_number(dt, f"{scope}.dt", above=0)
        if self.theta * self.dt >= 2.0:
            raise SpecError(
                f"expected theta * dt < 2, else the noise diverges; given {self.theta} * {self.dt}",
                path=f"{scope}.theta",
            )
        self.num_environments = check_whole(num_environments, f"{scope}.num_environments", least=1)
        amount = Schedule.from_spec(sigma, path=f"{scope}.sigma")
        amount.check_values(0.0, float("inf"), f"{scope}.sigma")
        super().__init__(action_space, amount, scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().check_input_spaces(input_spaces, action_space)
        indices = input_spaces.get("env_indices")
        if indices is not None and not (
            isinstance(indices, IntBox) and indices.shape == () and indices.has_batch_rank
        ):
            raise mismatch("env_indices", "IntBox(add_batch_rank=True)", repr(indices))

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        self.noise: dict[str, Any] = {}
        for path, box in self.floats.items():
            rows = FloatBox(shape=(self.num_environments, *box.shape))
            name = f"noise/{path}" if path else "noise"
            self.noise[path] = self.get_variable(name, rows, initializer=self.mu, host=True)

    @rlgraph_api
    def reset(self, env_indices: Any = None) -> Any:
        """Restart the noise of the environments ``env_indices [N]``, which begin new episodes; default: all."""
        self._reset(env_indices)

    def draw(self, path: str, shape: tuple[int, ...], amount: float) -> Any:
        if shape[0] > self.num_environments:
            raise InputError(
                f"{self.scope_path}: expected at most {self.num_environments} environments, given {shape[0]} actions; "
                "increase num_environments"
            )
        rng: np.random.Generator = self.rng  # type: ignore[attr-defined]
        x = self.noise[path][: shape[0]]
        push = (amount * math.sqrt(self.dt)) * rng.standard_normal(shape)
        x += self.theta * self.dt * (self.mu - x) + push
        return x

    @graph_fn(host=True, returns=0, spaces=())
    def _reset(self, env_indices: Any = None) -> None:
        rows = slice(None) if env_indices is None else self._checked(env_indices)
        for x in self.noise.values():
            x[rows] = self.mu

    def _checked(self, env_indices: np.ndarray) -> np.ndarray:
        if len(env_indices) and not 0 <= env_indices.min() <= env_indices.max() < self.num_environments:
            raise InputError(
                f"{self.scope_path}: expected env_indices in 0..{self.num_environments - 1}, given "
                f"{env_indices.tolist()}"
            )
        return env_indices
