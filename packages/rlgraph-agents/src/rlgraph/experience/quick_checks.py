"""Quick checks of the numbers that users hand over; where one fails, a close look finds the fault, or none."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np
from numpy import vdot

from rlgraph.spaces import BoxSpace, FloatBox, IntBox, Space

#: Python looks at up to this many numbers faster than NumPy does.
FEW_FLOATS, FEW_INTEGERS = 6, 32


def quick_check(space: Space, dtype: np.dtype) -> Callable[[Any], bool]:
    """A check of batches of `space`: False if a number may be infinite, NaN, or an integer outside its bounds.

    Args:
        space: of one item.
        dtype: of floats in records, in which large numbers can be infinite.
    """
    if isinstance(space, BoxSpace):
        return _check_of(space, dtype)
    checks = {path: _check_of(box, dtype) for path, box in space.flatten().items()}

    def check(batch: Any) -> bool:
        return all(checks[path](np.asarray(part)) for path, part in space.flatten_sample(batch).items())

    return check


def quick_check_of_floats(space: Space, dtype: np.dtype) -> Callable[[Any, Any], bool]:
    """A check of two batches of one Space and length, states and those that followed: as `quick_check`, floats only."""
    boxes = space.flatten().values()
    check_one = quick_check(space, dtype) if any(isinstance(box, FloatBox) for box in boxes) else _anything

    def check(first: Any, second: Any) -> bool:
        return check_one(first) and check_one(second)

    def check_floats(first: np.ndarray, second: np.ndarray) -> bool:
        if first.dtype is dtype and second.dtype is dtype:
            # Not finite where one of the factors is not: infinity times zero is NaN.
            return isfinite(vdot(first, second))
        return check(first, second)

    return check_floats if isinstance(space, FloatBox) else check


def _check_of(box: BoxSpace, dtype: np.dtype) -> Callable[[np.ndarray], bool]:
    if isinstance(box, FloatBox):
        return _float_check(float(np.finfo(dtype).max))
    if isinstance(box, IntBox) and not has_every_number(box):
        return integer_check(box)
    return _anything


def _anything(batch: Any) -> bool:
    return True


def _float_check(largest: float) -> Callable[[np.ndarray], bool]:
    largest_square = largest**2 if largest < 1e150 else float(np.finfo(np.float64).max)

    def check(array: np.ndarray) -> bool:
        try:
            if array.size <= FEW_FLOATS:
                return sum(map(abs, array.ravel().tolist())) <= largest  # NaN is not
            return float(vdot(array, array)) <= largest_square
        except TypeError:
            return False

    return check


def integer_check(box: IntBox) -> Callable[[np.ndarray], bool]:
    low, high = box.low, box.high
    one_low, one_high = isinstance(low, int), isinstance(high, int)

    def check(array: np.ndarray) -> bool:
        if one_low and one_high and 0 < array.size <= FEW_INTEGERS:
            numbers = array.ravel().tolist()
            return bool(min(numbers) >= low and max(numbers) < high)
        return (low is None or bool((array >= low).all())) and (high is None or bool((array < high).all()))

    return check


def has_every_number(box: IntBox) -> bool:
    """Whether the bounds are those of the dtype, so that no array of it has other numbers."""
    info = np.iinfo(box.dtype)
    return (box.low is None or np.max(box.low) <= info.min) and (
        box.high is None or np.min(box.high) > info.max
    )
