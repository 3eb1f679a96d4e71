"""Cases of the elementwise operations."""

from __future__ import annotations

from hypothesis import strategies as st

from rlgraph.testing.operations.calls import Call
from rlgraph.testing.operations.cases import Cases
from rlgraph.testing.operations.strategies import (
    ANY,
    FLOATS,
    NUMBERS,
    binary,
    broadcastable,
    scalars,
    tensors,
    unary,
)


@st.composite
def _clips(draw: st.DrawFn) -> Call:
    x = draw(tensors(NUMBERS))
    low, high = sorted((draw(st.integers(-2, 2)), draw(st.integers(-2, 2))))
    return Call([x, low, high] if x.is_int else [x, float(low), float(high)])


@st.composite
def _wheres(draw: st.DrawFn) -> Call:
    condition, one, other = draw(broadcastable(3))
    dtype = draw(st.sampled_from(ANY))
    operands = [draw(tensors([dtype], one)), draw(tensors([dtype], other))]
    if draw(st.booleans()):
        operands[draw(st.integers(0, 1))] = draw(scalars(dtype))
    return Call([draw(tensors(["bool"], condition)), *operands])


@st.composite
def _astypes(draw: st.DrawFn) -> Call:
    dtypes = ["float32", "float64", "int32", "int64", "bool", "float"]
    return Call([draw(tensors(ANY)), draw(st.sampled_from(dtypes))])


CASES = {
    "abs": Cases(unary(*NUMBERS)),
    "astype": Cases(_astypes()),
    "clip": Cases(_clips()),
    "exp": Cases(unary(*FLOATS)),
    "isfinite": Cases(unary(*FLOATS)),
    "log": Cases(unary(*FLOATS), domain=(0.25, 4.0)),
    "logical_and": Cases(binary(["bool"], with_scalars=False)),
    "logical_not": Cases(unary("bool")),
    "logical_or": Cases(binary(["bool"], with_scalars=False)),
    "maximum": Cases(binary(NUMBERS)),
    "minimum": Cases(binary(NUMBERS)),
    "sigmoid": Cases(unary(*FLOATS)),
    "sqrt": Cases(unary(*FLOATS), domain=(0.25, 4.0)),
    "square": Cases(unary(*NUMBERS)),
    "stop_gradient": Cases(unary(*ANY), differentiable=False),
    "tanh": Cases(unary(*FLOATS)),
    "where": Cases(_wheres()),
}
