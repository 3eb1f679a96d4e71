"""Checks of optimizer arguments."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.schedules import Schedule
from rlgraph.core import SpecError


def read_learning_rate(spec: Any, where: str) -> Schedule:
    """The learning rate, a number or a schedule.

    Raises:
        SpecError: `spec` is neither, or is below 0 at some time.
    """
    schedule = Schedule.from_spec(spec, path=where)
    # Schedules are monotonic, so checking their ends is enough.
    if min(schedule.value(0.0), schedule.value(1.0)) < 0.0:
        raise SpecError(f"expected a number >= 0, given {spec!r}", path=where)
    return schedule
