"""Cases of the operations that rearrange elements or make them."""

from __future__ import annotations

from hypothesis import strategies as st

from rlgraph.core.ops.elementwise import broadcast_shapes
from rlgraph.testing.operations.calls import Call
from rlgraph.testing.operations.cases import Cases
from rlgraph.testing.operations.strategies import (
    ANY,
    DIMS,
    axes_of,
    broadcastable,
    shapes,
    tensors,
    unary,
)


@st.composite
def _reshapes(draw: st.DrawFn) -> Call:
    x = draw(tensors(ANY, min_rank=1))
    shape = list(x.shape)
    for _ in range(draw(st.integers(0, 2))):  # merge neighbours
        if len(shape) > 1:
            i = draw(st.integers(0, len(shape) - 2))
            shape[i : i + 2] = [shape[i] * shape[i + 1]]
    if draw(st.booleans()):
        shape.insert(draw(st.integers(0, len(shape))), 1)
    if draw(st.booleans()):
        shape[draw(st.integers(0, len(shape) - 1))] = -1
    return Call([x], {"shape": tuple(shape)})


@st.composite
def _expands(draw: st.DrawFn) -> Call:
    x = draw(tensors(ANY))
    return Call([x], {"axis": draw(axes_of(len(x.shape), new=True))})


@st.composite
def _squeezes(draw: st.DrawFn) -> Call:
    x = draw(tensors(ANY))
    axis = draw(st.integers(0, len(x.shape)))
    x = x.with_shape((*x.shape[:axis], 1, *x.shape[axis:]))
    return Call([x], {"axis": draw(st.sampled_from([axis, axis - len(x.shape)]))})


@st.composite
def _permutations(draw: st.DrawFn) -> Call:
    x = draw(tensors(ANY))
    return Call([x], {"axes": tuple(draw(st.permutations(range(len(x.shape)))))})


@st.composite
def _broadcasts(draw: st.DrawFn) -> Call:
    one, other = draw(broadcastable(2))
    return Call([draw(tensors(ANY, one))], {"shape": broadcast_shapes(one, other)})


@st.composite
def _concats(draw: st.DrawFn) -> Call:
    first = draw(tensors(ANY, min_rank=1))
    axis = draw(axes_of(len(first.shape)))
    parts = [first]
    for _ in range(draw(st.integers(0, 2))):
        shape = list(first.shape)
        shape[axis] = draw(DIMS)
        parts.append(draw(tensors([first.dtype], tuple(shape))))
    return Call([parts], {"axis": axis})


@st.composite
def _stacks(draw: st.DrawFn) -> Call:
    first = draw(tensors(ANY))
    parts = [first] + [draw(tensors([first.dtype], first.shape)) for _ in range(draw(st.integers(0, 2)))]
    return Call([parts], {"axis": draw(axes_of(len(first.shape), new=True))})


@st.composite
def _creations(draw: st.DrawFn) -> Call:
    dtype = draw(st.sampled_from([None, "float", "int64", "bool", "uint8"]))
    return Call([], {"shape": draw(shapes())} if dtype is None else {"shape": draw(shapes()), "dtype": dtype})


CASES = {
    "broadcast_to": Cases(_broadcasts()),
    "concat": Cases(_concats()),
    "expand_dims": Cases(_expands()),
    "ones": Cases(_creations()),
    "ones_like": Cases(unary(*ANY), differentiable=False),
    "permute_dims": Cases(_permutations()),
    "reshape": Cases(_reshapes()),
    "squeeze": Cases(_squeezes()),
    "stack": Cases(_stacks()),
    "zeros": Cases(_creations()),
    "zeros_like": Cases(unary(*ANY), differentiable=False),
}
