"""A constant offset on actions."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.schedules import Schedule
from rlgraph.components.explorations.action_noise import ActionNoise
from rlgraph.core.specs.spec_types import ScheduleSpec, SpaceSpec


class ConstantNoise(ActionNoise):
    """``actions + value``: a shift, for tests and for studies of a biased actuator.

    Args:
        action_space: the Space of one action; it has floats.
        value: the offset added to every float, over training (see `Schedule.from_spec`).

    Raises:
        SpecError: the action has no floats, or the schedule is invalid.
    """

    def __init__(
        self, action_space: SpaceSpec, value: ScheduleSpec = 0.0, scope: str = "exploration", **kwargs: Any
    ):
        super().__init__(
            action_space, Schedule.from_spec(value, path=f"{scope}.value"), scope=scope, **kwargs
        )

    def draw(self, path: str, shape: tuple[int, ...], amount: float) -> Any:
        return amount
