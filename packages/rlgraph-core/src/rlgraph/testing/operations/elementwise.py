"""Cases of the elementwise operations."""

from __future__ import annotations

from hypothesis import strategies as st

from rlgraph.core.ops import TensorSpec
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
    unary_within,
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


#: Each operand has a size of 1 where another has more.
_BROADCAST = tuple(
    Call([TensorSpec(condition, "bool"), TensorSpec(x, "float32"), y])
    for condition, x, y in (
        ((3, 1), (1, 2), TensorSpec((3, 2), "float32")),
        ((), (2,), TensorSpec((), "float32")),
        ((2, 1, 3), (3,), 0.5),
    )
)

CASES = {
    "abs": Cases(unary(*NUMBERS)),
    "acos": Cases(unary_within(-0.95, 0.95), domain=(-0.9, 0.9)),
    "acosh": Cases(unary_within(1.1, 20.0), domain=(1.5, 4.0)),
    "asin": Cases(unary_within(-0.95, 0.95), domain=(-0.9, 0.9)),
    "asinh": Cases(unary(*FLOATS)),
    "astype": Cases(_astypes()),
    "atan": Cases(unary(*FLOATS)),
    "atan2": Cases(binary(FLOATS), domain=(0.25, 2.0)),
    "atanh": Cases(unary_within(-0.95, 0.95), domain=(-0.9, 0.9)),
    "ceil": Cases(unary(*FLOATS), differentiable=False),
    "clip": Cases(_clips()),
    "cos": Cases(unary(*FLOATS)),
    "cosh": Cases(unary(*FLOATS)),
    "digamma": Cases(unary_within(0.1, 20.0), domain=(0.5, 4.0), epsilons=256.0),
    "erf": Cases(unary(*FLOATS)),
    "exp": Cases(unary(*FLOATS)),
    "expm1": Cases(unary(*FLOATS)),
    "floor": Cases(unary(*FLOATS), differentiable=False),
    "isfinite": Cases(unary(*FLOATS), differentiable=False),
    "isinf": Cases(unary(*FLOATS), differentiable=False),
    "isnan": Cases(unary(*FLOATS), differentiable=False),
    "lgamma": Cases(unary_within(0.1, 20.0), domain=(0.5, 4.0), epsilons=256.0),
    "log": Cases(unary(*FLOATS), domain=(0.25, 4.0)),
    "log1p": Cases(unary_within(-0.9, 20.0), domain=(-0.5, 4.0)),
    "logaddexp": Cases(binary(FLOATS)),
    "logical_and": Cases(binary(["bool"], with_scalars=False), differentiable=False),
    "logical_not": Cases(unary("bool"), differentiable=False),
    "logical_or": Cases(binary(["bool"], with_scalars=False), differentiable=False),
    "logical_xor": Cases(binary(["bool"], with_scalars=False), differentiable=False),
    "maximum": Cases(binary(NUMBERS)),
    "minimum": Cases(binary(NUMBERS)),
    "reciprocal": Cases(unary_within(0.1, 20.0), domain=(0.5, 4.0)),
    "round": Cases(unary(*FLOATS), differentiable=False),
    "sigmoid": Cases(unary(*FLOATS)),
    "sign": Cases(unary(*NUMBERS), differentiable=False),
    "sin": Cases(unary(*FLOATS)),
    "sinh": Cases(unary(*FLOATS)),
    "sqrt": Cases(unary(*FLOATS), domain=(0.25, 4.0)),
    "square": Cases(unary(*NUMBERS)),
    "stop_gradient": Cases(unary(*ANY), differentiable=False),
    "tan": Cases(unary_within(-1.4, 1.4), domain=(-1.0, 1.0), epsilons=256.0),
    "tanh": Cases(unary(*FLOATS)),
    "trunc": Cases(unary(*FLOATS), differentiable=False),
    "where": Cases(_wheres(), always=_BROADCAST),
}
