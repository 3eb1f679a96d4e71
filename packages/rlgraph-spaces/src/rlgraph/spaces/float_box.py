"""FloatBox: arrays of floats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rlgraph.spaces.bounds import (
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
from rlgraph.spaces.ranks import Rank, read_ranks
from rlgraph.spaces.space import BoxSpace

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FloatBox"]

_OMITTED = Omitted()


class FloatBox(BoxSpace):
    """Arrays of floats between `low` and `high` (both inclusive).

    `FloatBox()` is unbounded, `FloatBox(1.0)` is 0..1, `FloatBox(0.0, None)` has no upper bound. Array bounds
    give the shape; -inf, inf (or None inside a list) leave single elements unbounded.

    Args:
        low, high: a number, an array or nested lists; None: unbounded.
        shape: without batch and time rank.
        dtype: "float16", "float32" or "float64".
        add_batch_rank, add_time_rank: False, True (unknown size), an int (fixed size) or a name.
        time_major: True if the time axis comes first.

    Raises:
        SpaceError: for low > high, and for bounds that do not fit the shape or the dtype.
    """

    type_name = "float_box"
    kinds = "f"
    default_dtype = "float32"

    def __init__(
        self,
        low: Any = None,
        high: Any = _OMITTED,
        shape: Any = (),
        dtype: Any = "float32",
        *,
        add_batch_rank: Rank = False,
        add_time_rank: Rank = False,
        time_major: bool = False,
    ) -> None:
        ranks = read_ranks(add_batch_rank, add_time_rank, time_major)
        dtype = read_dtype(dtype, ("float16", "float32", "float64"), float, "float32")
        if isinstance(high, Omitted):
            low, high = (None, None) if low is None else (0.0, low)
            single = high is not None
        else:
            single = False
        lows, highs = _read(low, "low", dtype), _read(high, "high", dtype)
        full = common_shape(lows, highs, read_shape(shape))
        if single and highs is not None and not np.all(highs > 0):
            hint = "for a lower bound alone: FloatBox(low, None)"
            raise mismatch("low", "FloatBox(x) to be 0..x with x > 0", bound_list(highs), hint)
        if lows is not None and highs is not None and np.any(lows > highs):
            at = first_index(np.broadcast_to(lows > highs, full))
            pair = np.broadcast_to(lows, full)[at], np.broadcast_to(highs, full)[at]
            raise mismatch("low", "FloatBox low <= high", f"{pair[0]} > {pair[1]} at index {at}")
        self._init(ranks=ranks, dtype=dtype, shape=full, low=canonical(lows), high=canonical(highs))

    def _arguments(self) -> dict[str, Any]:
        if self.low is None and self.high is None:
            return self._shape_and_dtype()
        return {"low": bound_list(self.low), "high": bound_list(self.high), **self._shape_and_dtype()}

    def _limits(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Both bounds as arrays of the Space's dtype, -inf and inf where unbounded."""
        low = np.asarray(-np.inf if self.low is None else self.low, self.dtype)
        return low, np.asarray(np.inf if self.high is None else self.high, self.dtype)

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[Any]:
        """Uniform between two bounds, exponential from one, standard normal without (as in Gymnasium)."""
        if self.low is None and self.high is None:
            return np.asarray(rng.standard_normal(shape)).astype(self.dtype)
        low, high = self._limits()
        if self.bounded:
            share = np.asarray(rng.random(shape))
            # Not low + share * (high - low): the difference may overflow.
            drawn = low * (1.0 - share) + high * share
        else:
            below, above = np.isfinite(low), np.isfinite(high)
            share, tail = rng.random(shape), rng.standard_exponential(shape)
            floor, roof = np.where(below, low, 0.0), np.where(above, high, 0.0)
            one_sided = np.where(
                below, floor + tail, np.where(above, roof - tail, rng.standard_normal(shape))
            )
            drawn = np.where(below & above, floor * (1.0 - share) + roof * share, one_sided)
        # Clipped to numbers of the dtype, since rounding could leave the bounds.
        info = np.finfo(self.dtype)
        clipped = np.clip(drawn, np.maximum(low, info.min), np.minimum(high, info.max))
        return np.asarray(clipped).astype(self.dtype)

    def _explain_values(self, array: NDArray[Any]) -> tuple[str, str] | None:
        low, high = self._limits()
        with np.errstate(over="ignore"):
            values = array.astype(self.dtype)  # check the stored value
        wrong = ~((values >= low) & (values <= high))  # written so that NaN is wrong
        if not np.any(wrong):
            return None
        at = first_index(wrong)
        bounds = [np.broadcast_to(bound, array.shape)[at] for bound in (low, high)]
        given = f"{array[at]} at index {at}"
        if np.isinf(bounds).all():  # only NaN is outside these
            return f"finite {self.dtype} values", given
        return f"{self.dtype} values in [{', '.join(map(str, bounds))}]", given


def _read(value: Any, name: str, dtype: str) -> NDArray[Any] | None:
    if value is None:
        return None
    raw = read_array(value, name, "fiu", -np.inf if name == "low" else np.inf)
    with np.errstate(over="ignore"):
        array = raw.astype(dtype) + np.zeros((), dtype)  # + 0: -0.0 becomes 0.0
    if np.isfinite(array).all():
        return np.asarray(array)
    if np.any(np.isnan(array)):
        raise mismatch(name, "numbers that are not NaN", repr(value))
    if np.any(np.isinf(array) & np.isfinite(raw.astype(np.float64))):
        raise mismatch(name, f"numbers that fit {dtype}", repr(value))
    if np.any(array == (np.inf if name == "low" else -np.inf)):
        raise mismatch(name, "-inf or numbers" if name == "low" else "inf or numbers", repr(value))
    return np.asarray(array)
