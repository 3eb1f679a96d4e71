"""Converts bounds (scalars, arrays, nested lists) to one canonical form.

Equal bounds have equal canonical forms: a uniform array becomes a scalar, an infinite side None, -0.0 becomes 0.0,
and a float is rounded to the Space's dtype.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rlgraph.spaces.errors import mismatch

__all__ = [
    "Bound",
    "Omitted",
    "bound_key",
    "bound_list",
    "canonical",
    "common_shape",
    "first_index",
    "read_array",
    "read_dtype",
    "read_shape",
]

Bound: TypeAlias = float | NDArray[Any] | None


class Omitted:
    """The default of `high`: None would mean "unbounded", but `FloatBox(x)` means 0..x."""

    def __repr__(self) -> str:
        return "<omitted>"


def read_shape(shape: object) -> tuple[int, ...]:
    """A tuple of ints from an int or a sequence. Raises SpaceError."""
    dims: Any = [shape] if isinstance(shape, (int, np.integer)) else shape
    try:
        valid = not isinstance(dims, str) and all(
            isinstance(dim, (int, np.integer)) and not isinstance(dim, bool) and dim >= 0 for dim in dims
        )
    except TypeError:
        valid = False
    if not valid:
        raise mismatch("shape", "a tuple of ints of 0 or more", repr(shape))
    return tuple(int(dim) for dim in dims)


def read_dtype(dtype: object, allowed: tuple[str, ...], python_type: type, default: str) -> str:
    """The dtype's name; Python's `float` and `int` mean the default. Raises SpaceError."""
    # Not `dtype == ...` alone: np.dtype("float64") == "float" holds.
    if dtype is python_type or (isinstance(dtype, str) and dtype == python_type.__name__):
        return default
    if isinstance(dtype, str) and dtype in allowed:
        return dtype
    try:
        name = np.dtype(dtype).name  # type: ignore[call-overload]
    except TypeError:
        name = str(dtype)
    if name not in allowed:
        raise mismatch("dtype", f"one of {', '.join(allowed)}", repr(dtype))
    return str(name)


def read_array(value: object, name: str, kinds: str, none: float | None) -> NDArray[Any]:
    """An array from a number, an array or nested lists; None inside a list means `none`."""
    array = np.asarray(_fill(value, none) if isinstance(value, (list, tuple)) else value)
    if array.dtype == object and all(isinstance(number, int) for number in array.flat):
        # Beyond 64 bits: a float may hold it, and the range check of an IntBox reports it otherwise.
        array = array.astype(np.float64) if "f" in kinds else array
    elif array.dtype.kind not in kinds and array.size:
        what = "integers" if "f" not in kinds else "numbers"
        raise mismatch(name, f"{what} (a number, an array or nested lists)", repr(value))
    return array


def _fill(value: Any, none: float | None) -> Any:
    try:
        return _fill_list(value, none)
    except ValueError:  # ragged: the caller reports it
        return None


def _fill_list(value: Any, none: float | None) -> Any:
    if isinstance(value, (list, tuple)):
        return np.stack([np.asarray(_fill_list(item, none)) for item in value]) if value else np.zeros((0,))
    return none if value is None else value


def common_shape(
    low: NDArray[Any] | None, high: NDArray[Any] | None, shape: tuple[int, ...]
) -> tuple[int, ...]:
    """The shape of the Space from its bounds and `shape`; scalars fit any. Raises SpaceError."""
    for name, bound in (("low", low), ("high", high)):
        if bound is None or bound.ndim == 0:
            continue
        if shape and bound.shape != shape:
            raise mismatch(name, f"a number or an array of shape {shape}", f"shape {bound.shape}")
        shape = bound.shape
    return shape


def first_index(mask: NDArray[Any]) -> tuple[int, ...]:
    """The index of the first True."""
    return tuple(int(index) for index in np.unravel_index(int(np.argmax(mask)), mask.shape))


def canonical(bound: NDArray[Any] | None) -> Bound:
    """None, a Python scalar or a read-only array (a copy)."""
    if bound is None or bound.size == 0:
        return None
    first = bound.flat[0]
    if np.all(bound == first):
        if bound.dtype.kind != "f":
            return int(first)
        # Via its shortest text: 0.1 in float32 becomes 0.1, not 0.10000000149011612.
        return float(str(first)) if np.isfinite(first) else None
    bound = bound.copy()
    bound.flags.writeable = False
    return bound


def bound_key(bound: Bound) -> Hashable:
    """A hashable value, equal for equal bounds."""
    return (bound.shape, bound.tobytes()) if isinstance(bound, np.ndarray) else bound


def bound_list(bound: Bound) -> Any:
    """A JSON-serializable value that reads back as this bound."""
    if not isinstance(bound, np.ndarray):
        return bound
    if bound.ndim > 1:
        return [bound_list(row) for row in bound]
    if bound.dtype.kind != "f" or bound.ndim == 0:
        return bound.tolist()
    return [float(str(value)) if np.isfinite(value) else None for value in bound]
