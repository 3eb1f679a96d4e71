"""Batch and time ranks: False (none), True (unknown size), an int (fixed size), a str (unknown, named).

A named rank has its own size: two inputs with `True` share their size, an input with "demo" does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from rlgraph.spaces.errors import mismatch

__all__ = ["Rank", "Ranks", "Size", "is_fixed", "leading_dims", "read_ranks"]

Rank: TypeAlias = bool | int | str
Size: TypeAlias = int | Sequence[int] | None


class Ranks(NamedTuple):
    """The validated ranks of a Space."""

    batch: Rank
    time: Rank
    time_major: bool

    def options(self) -> dict[str, Any]:
        """The constructor arguments for these ranks, without defaults."""
        options: dict[str, Any] = {}
        if self.batch is not False:
            options["add_batch_rank"] = self.batch
        if self.time is not False:
            options["add_time_rank"] = self.time
        if self.time_major and self.batch is not False:
            options["time_major"] = True
        return options

    def ordered(
        self, with_batch: bool | int = True, with_time: bool | int = True, time_major: bool | None = None
    ) -> list[Rank]:
        """The existing ranks in axis order; a number stands in place of its rank, `time_major` overrides the order.

        Raises:
            SpaceError: a rank that is asked for by something other than a bool or an integer.
        """
        batch = _asked_for(self.batch, with_batch, "with_batch_rank")
        time = _asked_for(self.time, with_time, "with_time_rank")
        return time + batch if (self.time_major if time_major is None else time_major) else batch + time


def _asked_for(rank: Rank, wanted: object, name: str) -> list[Rank]:
    if isinstance(wanted, (bool, np.bool_)):
        return [rank] if wanted and rank is not False else []
    if not isinstance(wanted, (int, np.integer)):
        raise mismatch(name, "a bool, or a number that stands for the rank", repr(wanted))
    return [] if rank is False else [int(wanted)]


def read_ranks(batch: object, time: object, time_major: object) -> Ranks:
    """Validates constructor arguments. A single time rank is time-major; without a time rank, nothing is."""
    batch, time = _read_rank(batch, "add_batch_rank"), _read_rank(time, "add_time_rank")
    if not isinstance(time_major, (bool, np.bool_)):
        raise mismatch("time_major", "a bool", repr(time_major))
    return Ranks(batch, time, time is not False and (bool(time_major) or batch is False))


def _read_rank(rank: object, name: str) -> Rank:
    if isinstance(rank, (bool, np.bool_)):
        return bool(rank)
    if isinstance(rank, (int, np.integer)) and rank >= 1:
        return int(rank)
    if isinstance(rank, str) and rank.isidentifier():
        return str(rank)
    raise mismatch(name, "False, True, a size of 1 or more, or a name (an identifier)", repr(rank))


def is_fixed(rank: Rank) -> bool:
    """True if the size of the rank is a number."""
    return isinstance(rank, int) and not isinstance(rank, bool)


def leading_dims(ranks: Ranks, size: Size) -> tuple[int, ...]:
    """The leading dimensions of a sample.

    None: 1 for each unknown rank, the number for each fixed one. An int: the size of the unknown
    rank (of the batch if both are unknown; time is 1 then). A sequence: one number per
    rank, in axis order. A Space without ranks allows any leading dimensions.
    """
    axes = ranks.ordered()
    default = [int(rank) if is_fixed(rank) else 1 for rank in axes]
    if size is None:
        return tuple(default)
    if isinstance(size, (int, np.integer)) and not isinstance(size, bool):
        dims = [int(size)]
        if len(axes) == 2:
            batch_axis = 1 if ranks.time_major else 0
            axis = 1 - batch_axis if is_fixed(ranks.batch) and not is_fixed(ranks.time) else batch_axis
            dims = [int(size) if index == axis else default[index] for index in range(2)]
    else:
        try:
            dims = [int(dim) for dim in cast(Sequence[int], size)]
        except (TypeError, ValueError):
            raise mismatch("size", "None, an int or a tuple of ints", repr(size)) from None
    if any(dim < 0 for dim in dims):
        raise mismatch("size", "sizes of 0 or more", repr(size))
    if axes:
        fits = len(dims) == len(axes) and all(
            not is_fixed(rank) or rank == dim for rank, dim in zip(axes, dims, strict=True)
        )
        if not fits:
            wanted = tuple(rank if is_fixed(rank) else None for rank in axes)
            raise mismatch("size", f"leading dimensions {wanted}", repr(size))
    return tuple(dims)
