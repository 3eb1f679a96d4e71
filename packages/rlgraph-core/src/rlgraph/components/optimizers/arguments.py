"""What the arguments of optimizers may be."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.schedules import Schedule
from rlgraph.core import SpecError


def read_learning_rate(spec: Any, where: str) -> Schedule:
    """The learning rate, a number or a schedule of one.

    Raises:
        SpecError: neither, or it is below 0 at some time.
    """
    schedule = Schedule.from_spec(spec, path=where)
    # Schedules run in one direction, so their ends say it.
    if min(schedule.value(0.0), schedule.value(1.0)) < 0.0:
        raise SpecError(f"{where}: expected a number >= 0, given {spec!r}")
    return schedule


def read_share(value: Any, where: str) -> float:
    """A number in [0, 1).

    Raises:
        SpecError: it is none.
    """
    if not _is_number(value) or not 0 <= value < 1:
        raise SpecError(f"{where}: expected a number in [0, 1), given {value!r}")
    return float(value)


def read_size(value: Any, where: str) -> float:
    """A number of at least 0.

    Raises:
        SpecError: it is none.
    """
    if not _is_number(value) or not value >= 0:
        raise SpecError(f"{where}: expected a number >= 0, given {value!r}")
    return float(value)


def read_limit(value: Any, where: str) -> float | None:
    """A number above 0, or None for no limit.

    Raises:
        SpecError: it is neither.
    """
    if value is None:
        return None
    if not _is_number(value) or not value > 0:
        raise SpecError(f"{where}: expected a number > 0 or None, given {value!r}")
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
