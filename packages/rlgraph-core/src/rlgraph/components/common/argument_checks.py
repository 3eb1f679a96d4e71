"""Checks of constructor arguments: Python numbers and NumPy scalars."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from rlgraph.core import SpecError
from rlgraph.core.errors import nearest

#: The largest number of parts of one component, such as the layers of a repeater; more are a mistake.
MAX_PARTS = 1000


def is_whole(value: Any) -> bool:
    """Whether `value` is an integer; a bool is not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether `value` is a finite number; a bool is not."""
    return _is_real(value) and math.isfinite(value)


def check_whole(value: Any, where: str, least: int | None = None, most: int | None = None) -> int:
    """`value` as a Python int.

    Args:
        value: the given value.
        where: name of the argument, for the message.
        least: its lower bound, inclusive.
        most: its upper bound, inclusive; only together with a lower one.

    Raises:
        SpecError: it is not an integer, or out of bounds.
    """
    if not is_whole(value) or (least is not None and value < least) or (most is not None and value > most):
        raise SpecError(f"expected an integer{_bounds(least, None, most, None)}, given {value!r}", path=where)
    return int(value)


def check_number(
    value: Any,
    where: str,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
) -> float:
    """`value` as a float.

    Args:
        value: the given value.
        where: name of the argument, for the message.
        least, above: its lower bound, inclusive or exclusive.
        most, below: its upper bound, inclusive or exclusive; only together with a lower one.

    Raises:
        SpecError: it is not a finite number, or out of bounds.
    """
    fits = (
        is_number(value)
        and (least is None or value >= least)
        and (above is None or value > above)
        and (most is None or value <= most)
        and (below is None or value < below)
    )
    if not fits:
        raise SpecError(f"expected a number{_bounds(least, above, most, below)}, given {value!r}", path=where)
    return float(value)


def check_limit(value: Any, where: str) -> float | None:
    """`value` as a float, or None (no limit) for None and infinity.

    Raises:
        SpecError: it is neither None nor a number above 0.
    """
    if value is None:
        return None
    if not _is_real(value) or not value > 0.0:
        raise SpecError(f"expected a number > 0, or None, given {value!r}", path=where)
    return float(value)


def check_choice(value: Any, where: str, choices: Collection[Any], kind: str = "") -> Any:
    """`value`, if it is one of the choices.

    Args:
        value: the given value.
        where: name of the argument, for the message.
        choices: strings, and None if that is allowed.
        kind: what the choices are, for the message; default: the name of the argument says it.

    Raises:
        SpecError: it is not one of them.
    """
    if value not in choices:
        hint = nearest(str(value), [choice for choice in choices if choice is not None])
        raise SpecError(f"unknown {f'{kind} ' if kind else ''}{value!r}. {hint}", path=where)
    return value


def check_flag(value: Any, where: str) -> bool:
    """`value` as a Python bool.

    Raises:
        SpecError: it is not a bool.
    """
    if not isinstance(value, bool | np.bool_):
        raise SpecError(f"expected true or false, given {value!r}", path=where)
    return bool(value)


def _is_real(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _bounds(least: float | None, above: float | None, most: float | None, below: float | None) -> str:
    if most is None and below is None:
        return f" >= {least:g}" if least is not None else "" if above is None else f" > {above:g}"
    left = f"[{least:g}" if least is not None else f"({above:g}"
    right = f"{most:g}]" if most is not None else f"{below:g})"
    return f" in {left}, {right}"
