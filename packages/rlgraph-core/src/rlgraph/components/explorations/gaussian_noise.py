"""Gaussian noise on actions."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_flag, check_number
from rlgraph.components.common.schedules import Schedule
from rlgraph.components.explorations.action_noise import ActionNoise
from rlgraph.core import SpecError
from rlgraph.core.specs.spec_types import ScheduleSpec, SpaceSpec
from rlgraph.spaces import FloatBox


class GaussianNoise(ActionNoise):
    """``actions + N(mean, stddev^2)``, drawn independently for every element and step.

    Fujimoto et al. (2018), section 4, https://arxiv.org/abs/1802.09477

    Args:
        action_space: the Space of one action; it has floats.
        mean: mean of the noise, in units of the actions.
        stddev: its standard deviation, over training (see `Schedule.from_spec`).
        relative: mean and standard deviation are in halves of the range of each element; all floats have both bounds.

    Raises:
        SpecError: the action has no floats, or with `relative` some without both bounds; the schedule is invalid, or a
            standard deviation is below 0.
    """

    other_names = MappingProxyType(dict.fromkeys(("sd", "std", "sigma", "scale"), "stddev"))

    def __init__(
        self,
        action_space: SpaceSpec,
        mean: float = 0.0,
        stddev: ScheduleSpec = 0.1,
        relative: bool = False,
        scope: str = "exploration",
        **kwargs: Any,
    ):
        self.mean = check_number(mean, f"{scope}.mean")
        amount = Schedule.from_spec(stddev, path=f"{scope}.stddev")
        amount.check_values(0.0, float("inf"), f"{scope}.stddev")
        super().__init__(action_space, amount, scope=scope, **kwargs)
        relative = check_flag(relative, f"{scope}.relative")
        self.units: dict[str, Any] = {
            path: _half_of_range(box, path, scope) if relative else 1.0 for path, box in self.floats.items()
        }

    def draw(self, path: str, shape: tuple[int, ...], amount: float) -> Any:
        return self.units[path] * (self.mean + amount * self.rng.standard_normal(shape))


def _half_of_range(box: FloatBox, path: str, scope: str) -> Any:
    if box.low is None or box.high is None or not box.bounded:
        where = f" in part {path!r}" if path else ""
        raise SpecError(f"true needs floats with both bounds, given {box!r}{where}", path=f"{scope}.relative")
    return (np.asarray(box.high) - np.asarray(box.low)) / 2
