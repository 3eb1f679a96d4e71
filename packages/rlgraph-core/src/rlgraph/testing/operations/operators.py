"""Cases of the operators on tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from rlgraph.core.ops import TensorSpec
from rlgraph.testing.operations import contraction
from rlgraph.testing.operations.calls import Call
from rlgraph.testing.operations.cases import Cases
from rlgraph.testing.operations.strategies import ANY, FLOATS, INTS, NUMBERS, binary, unary


@dataclass(frozen=True)
class Operator:
    """An operator: what it computes, on Python numbers as on tensors, and its cases."""

    function: Callable[..., Any]
    cases: Cases


def _positive(value: Any, low: float) -> Any:
    """The operand with values of at least `low`."""
    if not isinstance(value, TensorSpec):
        return max(abs(value), low)
    high = None if value.high is None or value.high <= low + 1 else value.high
    return replace(value, low=low, high=high)


@st.composite
def _divisions(draw: st.DrawFn) -> Call:
    """The frameworks disagree on what integers divided by zero are."""
    x, y = draw(binary([*FLOATS, *INTS])).args
    return Call([x, _positive(y, 1)])


@st.composite
def _powers(draw: st.DrawFn) -> Call:
    x, y = draw(binary(FLOATS)).args
    return Call([_positive(x, 0.5), y])


#: The operator as it is written (a unary minus is "neg") -> what it does and its cases.
OPERATORS: Mapping[str, Operator] = {
    "+": Operator(operator.add, Cases(binary(NUMBERS))),
    "-": Operator(operator.sub, Cases(binary(NUMBERS))),
    "*": Operator(operator.mul, Cases(binary(NUMBERS))),
    "/": Operator(operator.truediv, Cases(binary(FLOATS), domain=(0.5, 2.0))),
    "//": Operator(operator.floordiv, Cases(_divisions(), differentiable=False)),
    "%": Operator(operator.mod, Cases(_divisions(), differentiable=False)),
    "**": Operator(operator.pow, Cases(_powers(), domain=(0.5, 2.0), epsilons=256.0)),
    "<": Operator(operator.lt, Cases(binary(NUMBERS), differentiable=False)),
    "<=": Operator(operator.le, Cases(binary(NUMBERS), differentiable=False)),
    ">": Operator(operator.gt, Cases(binary(NUMBERS), differentiable=False)),
    ">=": Operator(operator.ge, Cases(binary(NUMBERS), differentiable=False)),
    "==": Operator(operator.eq, Cases(binary(ANY), differentiable=False)),
    "!=": Operator(operator.ne, Cases(binary(ANY), differentiable=False)),
    "&": Operator(operator.and_, Cases(binary(["bool"], with_scalars=False), differentiable=False)),
    "|": Operator(operator.or_, Cases(binary(["bool"], with_scalars=False), differentiable=False)),
    "^": Operator(operator.xor, Cases(binary(["bool"], with_scalars=False), differentiable=False)),
    "@": Operator(operator.matmul, contraction.CASES["matmul"]),
    "~": Operator(operator.invert, Cases(unary("bool"), differentiable=False)),
    "neg": Operator(operator.neg, Cases(unary(*NUMBERS))),
}
