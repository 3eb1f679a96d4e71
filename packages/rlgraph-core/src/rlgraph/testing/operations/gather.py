"""Cases of the operations that pick elements."""

from __future__ import annotations

from hypothesis import strategies as st

from rlgraph.core.ops import TensorSpec
from rlgraph.testing.operations.calls import Ascending, Call, Indices
from rlgraph.testing.operations.cases import Cases
from rlgraph.testing.operations.strategies import (
    ANY,
    DIMS,
    INTS,
    NUMBERS,
    along_axis,
    axes_of,
    shapes,
    smallest,
    tensors,
)


@st.composite
def _takes(draw: st.DrawFn) -> Call:
    x = draw(tensors(ANY, min_rank=1))
    axis = draw(axes_of(len(x.shape))) if draw(st.booleans()) else 0
    indices = Indices.into(x.shape[axis], draw(shapes(0, 2)), draw(st.sampled_from(INTS)))
    return Call([x, indices], {"axis": axis} if axis else {})


@st.composite
def _takes_along_axis(draw: st.DrawFn) -> Call:
    x = draw(tensors(NUMBERS, min_rank=1))
    axis = draw(axes_of(len(x.shape)))
    shape = list(x.shape)
    shape[axis] = draw(DIMS)
    indices = Indices.into(x.shape[axis], tuple(shape), draw(st.sampled_from(INTS)))
    return Call([x, indices], {"axis": axis})


@st.composite
def _one_hots(draw: st.DrawFn) -> Call:
    depth = draw(st.integers(1, 4))
    indices = Indices.into(depth, draw(shapes()), draw(st.sampled_from(INTS)))
    dtype = draw(st.sampled_from([None, "int64", "float64", "float", "bool"]))
    return Call([indices], {"depth": depth} if dtype is None else {"depth": depth, "dtype": dtype})


@st.composite
def _masks(draw: st.DrawFn) -> Call:
    x = draw(tensors(ANY, min_rank=1))
    return Call([x, TensorSpec(x.shape[: draw(st.integers(1, len(x.shape)))], "bool")])


@st.composite
def _segments(draw: st.DrawFn) -> Call:
    values = draw(tensors(NUMBERS, min_rank=1))
    count = draw(DIMS)
    ids = Indices.into(count, values.shape[:1], draw(st.sampled_from(INTS)))
    return Call([values, ids], {"num_segments": count})


@st.composite
def _sorts(draw: st.DrawFn) -> Call:
    call = draw(along_axis(NUMBERS))
    return Call(call.args, call.kwargs | draw(st.sampled_from([{}, {"descending": True}])))


@st.composite
def _top_ks(draw: st.DrawFn) -> Call:
    call = draw(along_axis(NUMBERS))
    size = call.args[0].shape[call.kwargs.get("axis", -1)]
    return Call([*call.args, draw(st.integers(1, smallest(size)))], call.kwargs)


@st.composite
def _searches(draw: st.DrawFn) -> Call:
    values = draw(tensors(NUMBERS))
    ascending = draw(tensors([values.dtype], (draw(DIMS),)))
    x1 = Ascending(ascending.shape, ascending.dtype, ascending.low, ascending.high)
    return Call([x1, values], draw(st.sampled_from([{}, {"side": "right"}])))


#: The last index along every axis.
_LAST = tuple(
    Call([TensorSpec((2, 3, 4), "float32"), Indices.into((2, 3, 4)[axis], (1,))], {"axis": axis})
    for axis in (0, 1, 2, -1, -2)
)

CASES = {
    "argsort": Cases(_sorts(), differentiable=False),
    "boolean_mask": Cases(_masks()),
    "one_hot": Cases(_one_hots(), differentiable=False),
    "searchsorted": Cases(_searches(), differentiable=False),
    "segment_sum": Cases(_segments(), epsilons=256.0),
    "sort": Cases(_sorts()),
    "take": Cases(_takes(), always=_LAST),
    "take_along_axis": Cases(_takes_along_axis()),
    "top_k": Cases(_top_ks()),
}
