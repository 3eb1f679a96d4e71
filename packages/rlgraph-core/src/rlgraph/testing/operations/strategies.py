"""The parts that calls are made of: shapes, tensors, operands, axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from rlgraph.core.ops import SymbolicDim, TensorSpec
from rlgraph.core.ops.tensor_spec import Shape
from rlgraph.testing.operations.calls import Call

FLOATS = ("float32", "float64")
INTS = ("int32", "int64")
NUMBERS = (*FLOATS, *INTS)
ANY = (*NUMBERS, "bool")

#: Open and fixed sizes.
DIMS: st.SearchStrategy[int | SymbolicDim] = st.sampled_from(
    [SymbolicDim.symbol("B"), SymbolicDim.symbol("T"), 1, 2, 3]
)


def shapes(min_rank: int = 0, max_rank: int = 3) -> st.SearchStrategy[Shape]:
    """Shapes of open and fixed sizes."""
    return st.lists(DIMS, min_size=min_rank, max_size=max_rank).map(tuple)


@st.composite
def tensors(
    draw: st.DrawFn, dtypes: Sequence[str], shape: Shape | None = None, min_rank: int = 0, max_rank: int = 3
) -> TensorSpec:
    """Tensors of one of `dtypes`, with no, one or two bounds between -3 and 3."""
    shape = draw(shapes(min_rank, max_rank)) if shape is None else shape
    dtype = draw(st.sampled_from(dtypes))
    low = high = None
    if dtype != "bool":
        pair = sorted((draw(st.integers(-3, 3)), draw(st.integers(-3, 3))))
        low = pair[0] if draw(st.booleans()) else None
        high = pair[1] + (1 if dtype in INTS else 0) if draw(st.booleans()) else None
    return TensorSpec(shape, dtype, low, high)


def bounded(dtypes: Sequence[str], low: float, high: float) -> st.SearchStrategy[TensorSpec]:
    """Tensors with these bounds."""
    return tensors(dtypes).map(lambda x: TensorSpec(x.shape, x.dtype, low, high))


def smallest(size: int | SymbolicDim) -> int:
    """A number that `size` is never below: an index below it is inside."""
    return size if isinstance(size, int) else 3


@st.composite
def broadcastable(draw: st.DrawFn, count: int) -> list[Shape]:
    """Shapes that broadcast: of one shape some axes are 1 and some leading ones are missing."""
    full = draw(shapes())
    result = []
    for _ in range(count):
        start = draw(st.integers(0, len(full)))
        result.append(tuple(1 if draw(st.booleans()) else dim for dim in full[start:]))
    return result


def scalars(dtype: str) -> st.SearchStrategy[Any]:
    """Python scalars that go with tensors of `dtype`."""
    if dtype == "bool":
        return st.booleans()
    return st.integers(-2, 2) if dtype in INTS else st.sampled_from([0.5, -1.5, 2])


@st.composite
def binary(draw: st.DrawFn, dtypes: Sequence[str], with_scalars: bool = True) -> Call:
    """Two tensors that broadcast, or a tensor and a Python scalar on either side."""
    one, other = draw(broadcastable(2))
    dtype = draw(st.sampled_from(dtypes))
    operands: list[Any] = [draw(tensors([dtype], one)), draw(tensors([dtype], other))]
    if with_scalars and draw(st.booleans()):
        operands[draw(st.integers(0, 1))] = draw(scalars(dtype))
    return Call(operands)


def unary(*dtypes: str) -> st.SearchStrategy[Call]:
    """Calls with one tensor."""
    return tensors(dtypes).map(lambda x: Call([x]))


def unary_within(low: float, high: float) -> st.SearchStrategy[Call]:
    """Calls with one float tensor with these bounds."""
    return bounded(FLOATS, low, high).map(lambda x: Call([x]))


def axes_of(rank: int, new: bool = False) -> st.SearchStrategy[int]:
    """An axis of a tensor of this rank, from the front or the back; with `new` also a place for another one."""
    return st.integers(-rank - new, rank - 1 + new)


@st.composite
def reductions(draw: st.DrawFn, dtypes: Sequence[str]) -> Call:
    """Calls with ``axis`` (None, one, several) and ``keepdims``."""
    x = draw(tensors(dtypes))
    rank = len(x.shape)
    axes: st.SearchStrategy[Any] = st.none()
    if rank:
        axes |= axes_of(rank)
        axes |= st.lists(st.integers(0, rank - 1), min_size=1, unique=True).map(tuple)
    return Call([x], {"axis": draw(axes), "keepdims": draw(st.booleans())})


@st.composite
def along_axis(draw: st.DrawFn, dtypes: Sequence[str], optional: bool = True) -> Call:
    """Calls with one ``axis``, which may be left out if it is `optional`."""
    x = draw(tensors(dtypes, min_rank=1))
    axis = draw(axes_of(len(x.shape)))
    return Call([x], {"axis": axis} if not optional or draw(st.booleans()) else {})
