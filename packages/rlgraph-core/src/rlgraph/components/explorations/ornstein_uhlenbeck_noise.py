"""Time-correlated noise on actions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.common.observations import Observations
from rlgraph.components.common.schedules import Schedule
from rlgraph.components.explorations.action_noise import ActionNoise
from rlgraph.components.explorations.exploration import action_batch
from rlgraph.components.networks.layer_chain import check_states, state_key
from rlgraph.core import SpecError, graph_fn, rlgraph_api
from rlgraph.core.ops import leaves_of
from rlgraph.core.specs.spec_types import ScheduleSpec, SpaceSpec
from rlgraph.spaces import Dict, FloatBox, Space, Tuple


class OrnsteinUhlenbeckNoise(ActionNoise):
    """``actions + mu + d``, where ``d <- d - theta dt d + sigma sqrt(dt) N(0, 1)`` after every step.

    Uhlenbeck and Ornstein (1930), discretized by Euler-Maruyama; used by Lillicrap et al. (2016), section 7,
    https://arxiv.org/abs/1509.02971. With ``phi = 1 - theta dt`` the noise of two times k steps apart has the
    correlation ``phi^k``, and in the long run the variance ``sigma^2 dt / (1 - phi^2)``.

    The deviations `d` from `mu` are internal states: they come with the observations, and `next_internal_states` draws
    those of the next step. An episode begins where they are zero, so the noise of its first step is exactly `mu`.

    Args:
        action_space: the Space of one action; it has floats.
        theta: rate of return to `mu`, per unit of time.
        sigma: scale of the random steps, over training (see `Schedule.from_spec`).
        mu: mean of the noise, in units of the actions.
        dt: duration of a step.

    Attributes:
        states_key: the key of its internal states: its scope as an identifier.

    Raises:
        SpecError: the action has no floats, the schedule is invalid, `sigma` is below 0, or ``theta * dt`` makes the
            noise diverge.
    """

    def __init__(
        self,
        action_space: SpaceSpec,
        theta: float = 0.15,
        sigma: ScheduleSpec = 0.2,
        mu: float = 0.0,
        dt: float = 1.0,
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
        amount = Schedule.from_spec(sigma, path=f"{scope}.sigma")
        amount.check_values(0.0, float("inf"), f"{scope}.sigma")
        super().__init__(action_space, amount, scope=scope, **kwargs)
        self.states_key = state_key(self)

    @property
    def internal_states_space(self) -> Dict:
        """The Space of the internal states: by component, a tuple of the deviations of the float parts."""
        deviations = [FloatBox(shape=box.shape, add_batch_rank=True) for box in self.floats.values()]
        return Dict({self.states_key: Tuple(*deviations)})

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().check_input_spaces(input_spaces, action_space)
        held = self._held(input_spaces.get("observations"))
        if held is not None:
            check_states("internal_states", Dict({self.states_key: held}), self.internal_states_space)

    @rlgraph_api
    def get_action(
        self, actions: Any, progress: Any = None, use_exploration: Any = None, observations: Any = None
    ) -> Any:
        """As of `ActionNoise`; the noise is that of the internal states in the observations, `mu` without them."""
        if use_exploration is False:
            return actions
        return self._deviate(
            actions, self._held(observations), None if use_exploration is True else use_exploration
        )

    @rlgraph_api
    def next_internal_states(
        self, observations: Any, progress: Any = None, use_exploration: Any = None
    ) -> Any:
        """The internal states of the next step, by component, as observations have them.

        Args:
            observations: of this step, states ``[B, ...]`` and internal states.
            progress: the fraction of training done, []; not needed for a constant `sigma`.
            use_exploration: False leaves the internal states and draws nothing; a Python bool or a tensor [].
        """
        self.amount.need_time(progress, self.scope_path)
        held = self._held(observations)
        batch = Observations.of(observations, self.scope_path).states if held is None else None
        switch = None if use_exploration is True else use_exploration
        return {self.states_key: self._advance(batch, held, progress, switch)}

    def draw(self, path: str, shape: tuple[int, ...], amount: float) -> Any:
        """The random part of the step of a deviation."""
        return amount * math.sqrt(self.dt) * self.rng.standard_normal(shape)

    def _held(self, observations: Any) -> Any:
        return Observations.of(observations, self.scope_path).states_of(self.states_key, self.scope_path)

    @graph_fn(host=True, spaces=action_batch)
    def _deviate(self, actions: Any, held: Any = None, use_exploration: Any = None) -> Any:
        if use_exploration is not None and not use_exploration:
            return actions
        deviations = dict(zip(self.floats, held, strict=True)) if held is not None else {}
        return self.with_noise(actions, lambda path, _: self.mu + deviations.get(path, 0.0))

    @graph_fn(host=True, spaces=lambda self, *_: self.internal_states_space[self.states_key])
    def _advance(
        self, batch: Any, held: Any = None, progress: Any = None, use_exploration: Any = None
    ) -> Any:
        if held is None:
            rows = len(next(iter(leaves_of(batch))))
            held = tuple(np.zeros((rows, *box.shape)) for box in self.floats.values())
        if use_exploration is not None and not use_exploration:
            return held
        amount = self.amount.value(0.0 if progress is None else float(progress))
        rest = 1.0 - self.theta * self.dt
        return tuple(
            rest * d + self.draw(path, d.shape, amount) for path, d in zip(self.floats, held, strict=True)
        )
