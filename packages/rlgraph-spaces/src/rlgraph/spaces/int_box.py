"""IntBox: arrays of integers or categories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rlgraph.spaces.bounds import (
    Bound,
    Omitted,
    bound_list,
    canonical,
    common_shape,
    first_index,
    read_array,
    read_dtype,
    read_shape,
)
from rlgraph.spaces.errors import mismatch
from rlgraph.spaces.float_box import FloatBox
from rlgraph.spaces.ranks import Rank, read_ranks
from rlgraph.spaces.space import BoxSpace

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["IntBox"]

_OMITTED = Omitted()
_SPAN = 10**8
"""Largest distance of a sample from the other bound (or from 0) on an unbounded side."""


class IntBox(BoxSpace):
    """Arrays of integers from `low` (inclusive) to `high` (exclusive).

    `IntBox(n)` is 0..n-1 with `num_categories == n`, `IntBox()` is unbounded, `IntBox(0, None)` has no upper
    bound. `IntBox([3, 5])` has two values with 3 and 5 categories (`num_categories` is None then).

    Args:
        low, high: an int, an integer array or nested lists; None: unbounded (within the dtype's range).
        shape: without batch and time rank.
        dtype: "uint8", "int16", "int32" or "int64".
        add_batch_rank, add_time_rank: False, True (unknown size), an int (fixed size) or a name.
        time_major: True if the time axis comes first.

    Raises:
        SpaceError: for low >= high, and for bounds that do not fit the shape or the dtype.
    """

    type_name = "int_box"
    kinds = "iu"
    default_dtype = "int64"

    def __init__(
        self,
        low: Any = None,
        high: Any = _OMITTED,
        shape: Any = (),
        dtype: Any = "int64",
        *,
        add_batch_rank: Rank = False,
        add_time_rank: Rank = False,
        time_major: bool = False,
    ) -> None:
        ranks = read_ranks(add_batch_rank, add_time_rank, time_major)
        dtype = read_dtype(dtype, ("uint8", "int16", "int32", "int64"), int, "int64")
        if isinstance(high, Omitted):
            low, high = (None, None) if low is None else (0, low)
        lows, highs = _read(low, "low", dtype), _read(high, "high", dtype)
        full = common_shape(lows, highs, read_shape(shape))
        if lows is not None and highs is not None and np.any(lows >= highs):
            at = first_index(np.broadcast_to(lows >= highs, full))
            pair = np.broadcast_to(lows, full)[at], np.broadcast_to(highs, full)[at]
            raise mismatch("low", "IntBox low < high (exclusive)", f"{pair[0]} >= {pair[1]} at index {at}")
        bounds = {"low": canonical(lows), "high": canonical(highs)}
        self._init(
            ranks=ranks, dtype=dtype, shape=full, **{key: _as_int64(b, key) for key, b in bounds.items()}
        )

    def _arguments(self) -> dict[str, Any]:
        if self.low is None and self.high is None:
            return self._shape_and_dtype()
        return {"low": bound_list(self.low), "high": bound_list(self.high), **self._shape_and_dtype()}

    @property
    def num_categories(self) -> int | None:
        """`high` if all elements share it and start at 0, else None."""
        uniform = isinstance(self.low, int) and isinstance(self.high, int) and self.low == 0
        return int(self.high) if uniform and isinstance(self.high, int) else None

    @property
    def flat_dim_with_categories(self) -> int:
        """The number of values, summed over all elements. Raises SpaceError if unbounded."""
        if self.low is None or self.high is None:
            raise mismatch("", "an IntBox with both bounds, to count its values", repr(self))
        if isinstance(self.low, int) and isinstance(self.high, int):
            return self.flat_dim * (self.high - self.low)
        counts = np.asarray(self.high, object) - np.asarray(self.low, object)
        return int(np.sum(np.broadcast_to(counts, self.shape)))

    def as_one_hot_float_space(self) -> FloatBox:
        """FloatBox 0..1 of shape [..., num_categories] with the same ranks. Raises SpaceError without categories."""
        if self.num_categories is None:
            raise mismatch("", "an IntBox with one number of categories", repr(self))
        return FloatBox(0.0, 1.0, (*self.shape, self.num_categories), **self.ranks.options())

    def _limits(self) -> tuple[Any, Any]:
        """Both bounds, inclusive so that they fit int64; the dtype's range where unbounded."""
        info = np.iinfo(self.dtype)
        low = int(info.min) if self.low is None else self.low
        return low, int(info.max) if self.high is None else self.high - 1

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[Any]:
        """Uniform; if a side is unbounded, within 1e8 of the other one or of 0 (and the dtype's range)."""
        low, high = self._limits()
        if self.low is None and self.high is None:
            low, high = max(low, -_SPAN), min(high, _SPAN)
        elif self.high is None:
            high = np.minimum(low, high - _SPAN) + _SPAN  # low + _SPAN may overflow
        elif self.low is None:
            low = np.maximum(high, low + _SPAN) - _SPAN
        drawn = rng.integers(low, high, size=shape, dtype=np.int64, endpoint=True)
        return np.asarray(drawn).astype(self.dtype)

    def _explain_values(self, array: NDArray[Any]) -> tuple[str, str] | None:
        low, high = self._limits()
        wrong = (array < low) | (array > high)
        if not np.any(wrong):
            return None
        at = first_index(wrong)
        first, last = np.broadcast_to(low, array.shape)[at], np.broadcast_to(high, array.shape)[at]
        return f"{self.dtype} values from {first} to {last} (inclusive)", f"{array[at]} at index {at}"


def _read(value: Any, name: str, dtype: str) -> NDArray[Any] | None:
    if value is None:
        return None
    array = read_array(value, name, "iu", None)
    info = np.iinfo(dtype)
    # An exclusive high may be one past the range: IntBox(256, dtype="uint8").
    least, most = (info.min, info.max) if name == "low" else (info.min + 1, info.max + 1)
    if array.size and not (int(array.min()) >= least and int(array.max()) <= most):
        raise mismatch(name, f"numbers from {least} to {most} for {dtype}", repr(value))
    return array


def _as_int64(bound: Bound, name: str) -> Bound:
    if not isinstance(bound, np.ndarray):
        return bound
    if bound.dtype.kind == "u" and int(bound.max()) > np.iinfo("int64").max:
        raise mismatch(name, "numbers below 2**63 where they differ", bound.tolist())
    bound = bound.astype(np.int64)
    bound.flags.writeable = False
    return bound
