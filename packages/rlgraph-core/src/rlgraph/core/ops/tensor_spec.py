"""The build-time description of a tensor: shape, dtype and bounds."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rlgraph.core.ops.dims import RankSize, SymbolicDim
from rlgraph.spaces import BoolBox, BoxSpace, FloatBox, IntBox, Space, TextBox

#: The time rank, that of one call (``T7``), or a part of it (``T//2``, ``(T)//(C)``).
_TIME = re.compile(r"T\d*|(T\d*|\(T\d*\))//.+")
Shape = tuple[int | SymbolicDim, ...]


@dataclass(frozen=True)
class TensorSpec:
    """One tensor inside a plan. `high` is exclusive for integers, as in `IntBox`."""

    shape: Shape
    dtype: str
    low: float | int | None = None
    high: float | int | None = None

    def __repr__(self) -> str:
        dims = ", ".join(str(dim) if isinstance(dim, SymbolicDim) else repr(dim) for dim in self.shape)
        return f"{self.dtype}[{dims}]"

    @property
    def is_float(self) -> bool:
        return self.dtype.startswith("float")

    @property
    def is_int(self) -> bool:
        return self.dtype.startswith(("int", "uint"))

    def with_shape(self, shape: Shape) -> TensorSpec:
        return replace(self, shape=shape)

    def unbounded(self) -> TensorSpec:
        return replace(self, low=None, high=None)

    def bounded_as(self, *others: TensorSpec) -> TensorSpec:
        """The same with the bounds that hold for this and all `others`."""
        lows, highs = ([getattr(spec, end) for spec in (self, *others)] for end in ("low", "high"))
        return replace(
            self, low=None if None in lows else min(lows), high=None if None in highs else max(highs)
        )

    @classmethod
    def from_space(
        cls, space: BoxSpace, float_dtype: str = "float32", batch: str = "B", time: str = "T"
    ) -> TensorSpec:
        """The tensor for elements of `space`; floating Spaces take the execution's `float_dtype`."""
        ranks: list[int | SymbolicDim] = []
        for rank, symbol, name in ((space.batch_rank, batch, "batch"), (space.time_rank, time, "time")):
            if rank is True:
                ranks.append(SymbolicDim.symbol(symbol))
            elif isinstance(rank, str):
                ranks.append(SymbolicDim.symbol(rank))
            elif rank is not False:
                ranks.append(RankSize(rank, name))
        if space.time_major:
            ranks.reverse()
        dtype = float_dtype if space.dtype.startswith("float") else space.dtype
        return cls((*ranks, *space.shape), dtype, _scalar(space.low), _scalar(space.high))

    def to_space(self) -> BoxSpace:
        """The Space of such tensors. Leading sizes that are unknown, or fixed by ranks, become batch and time ranks.

        Raises:
            ValueError: a size after the first two is unknown.
        """
        return self._space

    @cached_property  # builds ask for it again and again
    def _space(self) -> BoxSpace:
        ranks: list[int | SymbolicDim] = []
        shape = list(self.shape)
        while shape and len(ranks) < 2:
            if not (isinstance(shape[0], RankSize) or any(isinstance(dim, SymbolicDim) for dim in shape)):
                break
            ranks.append(shape.pop(0))
        if any(isinstance(dim, SymbolicDim) for dim in shape):
            raise ValueError(f"{self} has no Space: only the two leading sizes may be unknown")
        options: dict[str, Any] = {}
        time_major = bool(ranks) and (_is_time(ranks[0]) or _is_batch(*ranks[1:]) or _is_steps(*ranks))
        names = ("add_time_rank", "add_batch_rank") if time_major else ("add_batch_rank", "add_time_rank")
        for name, dim in zip(names, ranks, strict=False):
            options[name] = True if isinstance(dim, SymbolicDim) else int(dim)
        if time_major:
            options["time_major"] = True
        fixed = tuple(int(dim) for dim in shape)  # type: ignore[arg-type]
        if self.dtype == "bool":
            return BoolBox(shape=fixed, **options)
        if self.dtype == "str":
            return TextBox(shape=fixed, **options)
        if self.is_int:
            return IntBox(self.low, self.high, shape=fixed, dtype=self.dtype, **options)
        return FloatBox(self.low, self.high, shape=fixed, dtype=self.dtype, **options)


def _is_time(dim: int | SymbolicDim) -> bool:
    """Whether a size is that of the time rank, or derived from it (``T - 1``)."""
    if isinstance(dim, RankSize):
        return dim.rank == "time"
    return isinstance(dim, SymbolicDim) and all(_TIME.fullmatch(symbol) for symbol in dim.symbols)


def _is_batch(dim: int | SymbolicDim = 0) -> bool:
    if isinstance(dim, RankSize):
        return dim.rank == "batch"
    return isinstance(dim, SymbolicDim) and dim.symbols == {"B"}


def _is_steps(first: int | SymbolicDim, second: int | SymbolicDim = 0) -> bool:
    """Whether sizes are a fixed number of steps and a batch that is not the argument's, such as a memory's records."""
    return (
        not isinstance(first, SymbolicDim | RankSize)
        and isinstance(second, SymbolicDim)
        and not _is_time(second)
    )


def _scalar(bound: Any) -> float | int | None:
    """`bound` if it is a scalar: a spec has no per-element bounds."""
    return None if bound is None or isinstance(bound, np.ndarray) else bound


def to_specs(space: Space, float_dtype: str, batch: str = "B", time: str = "T") -> Any:
    """The nested dict/tuple of `TensorSpec` that mirrors `space`."""
    return space.map_leaves(lambda _path, box: TensorSpec.from_space(box, float_dtype, batch, time))
