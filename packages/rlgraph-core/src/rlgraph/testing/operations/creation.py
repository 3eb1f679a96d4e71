"""Cases of the operations that make tensors."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from rlgraph.testing.operations.calls import Call
from rlgraph.testing.operations.cases import Cases
from rlgraph.testing.operations.strategies import ANY, DIMS, scalars, shapes, tensors, unary

#: The option ``dtype``, or none.
DTYPES: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {"dtype": "float"}, {"dtype": "int64"}, {"dtype": "bool"}, {"dtype": "uint8"}]
)


@st.composite
def _fills(draw: st.DrawFn) -> Call:
    dtype = draw(st.sampled_from(["float", *ANY]))
    value = draw(scalars("float32" if dtype == "float" else dtype))
    return Call([draw(shapes()), value], {"dtype": dtype} if dtype != "float" else {})


@st.composite
def _fills_like(draw: st.DrawFn) -> Call:
    x = draw(tensors(ANY))
    return Call([x, draw(scalars(x.dtype))])


@st.composite
def _eyes(draw: st.DrawFn) -> Call:
    return Call([draw(DIMS), *draw(st.lists(DIMS, max_size=1))], draw(DTYPES))


@st.composite
def _ranges(draw: st.DrawFn) -> Call:
    dtype = draw(st.sampled_from([{}, {"dtype": "int32"}, {"dtype": "float"}]))
    if draw(st.booleans()):
        ends = st.integers(-4, 4)
        return Call([draw(ends), draw(ends), draw(st.sampled_from([1, 2, -1, -3]))], dtype)
    if draw(st.booleans()):
        return Call([draw(DIMS)], dtype)
    start = draw(st.integers(-2, 1))
    return Call([start, draw(DIMS) + start], dtype)


@st.composite
def _spaces(draw: st.DrawFn) -> Call:
    start, stop = draw(scalars("float32")), draw(scalars("float32"))
    dtype = draw(st.sampled_from([{}, {"dtype": "float64"}, {"dtype": "float"}]))
    return Call([start, stop, draw(st.integers(2, 7))], dtype)


def _shaped() -> st.SearchStrategy[Call]:
    return st.tuples(shapes(), DTYPES).map(lambda pair: Call([], {"shape": pair[0], **pair[1]}))


CASES = {
    "arange": Cases(_ranges(), differentiable=False),
    "eye": Cases(_eyes(), differentiable=False),
    "full": Cases(_fills(), differentiable=False),
    "full_like": Cases(_fills_like(), differentiable=False),
    "linspace": Cases(_spaces(), differentiable=False),
    "ones": Cases(_shaped(), differentiable=False),
    "ones_like": Cases(unary(*ANY), differentiable=False),
    "zeros": Cases(_shaped(), differentiable=False),
    "zeros_like": Cases(unary(*ANY), differentiable=False),
}
