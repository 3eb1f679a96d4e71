"""Cases of the operations that pick elements."""

from __future__ import annotations

from hypothesis import strategies as st

from rlgraph.core.ops import TensorSpec
from rlgraph.testing.operations.calls import Call
from rlgraph.testing.operations.cases import Cases
from rlgraph.testing.operations.strategies import (
    ANY,
    DIMS,
    INTS,
    NUMBERS,
    axes_of,
    shapes,
    smallest,
    tensors,
)


@st.composite
def _takes(draw: st.DrawFn) -> Call:
    x = draw(tensors(ANY, min_rank=1))
    axis = draw(axes_of(len(x.shape))) if draw(st.booleans()) else 0
    indices = TensorSpec(draw(shapes(0, 2)), draw(st.sampled_from(INTS)), 0, smallest(x.shape[axis]))
    return Call([x, indices], {"axis": axis} if axis else {})


@st.composite
def _takes_along_axis(draw: st.DrawFn) -> Call:
    x = draw(tensors(NUMBERS, min_rank=1))
    axis = draw(axes_of(len(x.shape)))
    shape = list(x.shape)
    shape[axis] = draw(DIMS)
    indices = TensorSpec(tuple(shape), draw(st.sampled_from(INTS)), 0, smallest(x.shape[axis]))
    return Call([x, indices], {"axis": axis})


@st.composite
def _one_hots(draw: st.DrawFn) -> Call:
    depth = draw(st.integers(1, 4))
    indices = TensorSpec(draw(shapes()), draw(st.sampled_from(INTS)), 0, depth)
    dtype = draw(st.sampled_from([None, "int64", "float64", "float", "bool"]))
    return Call([indices], {"depth": depth} if dtype is None else {"depth": depth, "dtype": dtype})


CASES = {
    "one_hot": Cases(_one_hots(), differentiable=False),
    "take": Cases(_takes()),
    "take_along_axis": Cases(_takes_along_axis()),
}
