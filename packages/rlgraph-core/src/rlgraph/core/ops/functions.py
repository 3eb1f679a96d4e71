"""Elementwise functions of one number."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from rlgraph.core.ops.checks import require_float, require_number
from rlgraph.core.ops.contract import operation
from rlgraph.core.ops.tensor_spec import TensorSpec


def _rounded(x: TensorSpec, to_integer: Callable[[float], int]) -> TensorSpec:
    low = None if x.low is None else float(to_integer(x.low))
    high = None if x.high is None else float(to_integer(x.high))
    return replace(x, low=low, high=high)


@operation("elementwise")
def exp(x: TensorSpec) -> TensorSpec:
    """e to the power of `x`."""
    require_float("exp", x)
    return replace(x, low=0.0, high=None)


@operation("elementwise")
def log(x: TensorSpec) -> TensorSpec:
    """Natural logarithm."""
    require_float("log", x)
    return x.unbounded()


@operation("elementwise")
def sqrt(x: TensorSpec) -> TensorSpec:
    """Square root."""
    require_float("sqrt", x)
    return replace(x, low=0.0, high=None)


@operation("elementwise")
def square(x: TensorSpec) -> TensorSpec:
    """``x * x``."""
    require_number("square", x)
    return replace(x, low=0, high=None)


@operation("elementwise")
def abs_(x: TensorSpec) -> TensorSpec:
    """Absolute value."""
    require_number("abs", x)
    return replace(x, low=0, high=None)


@operation("elementwise")
def tanh(x: TensorSpec) -> TensorSpec:
    """Hyperbolic tangent."""
    require_float("tanh", x)
    return replace(x, low=-1.0, high=1.0)


@operation("elementwise")
def sigmoid(x: TensorSpec) -> TensorSpec:
    """``1 / (1 + exp(-x))``."""
    require_float("sigmoid", x)
    return replace(x, low=0.0, high=1.0)


@operation("elementwise")
def expm1(x: TensorSpec) -> TensorSpec:
    """``exp(x) - 1``, exact near 0."""
    require_float("expm1", x)
    return replace(x, low=-1.0, high=None)


@operation("elementwise")
def log1p(x: TensorSpec) -> TensorSpec:
    """``log(1 + x)``, exact near 0."""
    require_float("log1p", x)
    return x.unbounded()


@operation("elementwise")
def reciprocal(x: TensorSpec) -> TensorSpec:
    """``1 / x``."""
    require_float("reciprocal", x)
    return x.unbounded()


@operation("elementwise", differentiable=False)
def sign(x: TensorSpec) -> TensorSpec:
    """-1, 0 or 1: the sign of `x`; it has no derivative."""
    require_number("sign", x)
    return replace(x, low=-1, high=2 if x.is_int else 1)


@operation("elementwise", differentiable=False)
def floor(x: TensorSpec) -> TensorSpec:
    """The largest integer that is not above `x`, as a float; it has no derivative."""
    require_float("floor", x)
    return _rounded(x, math.floor)


@operation("elementwise", differentiable=False)
def ceil(x: TensorSpec) -> TensorSpec:
    """The smallest integer that is not below `x`, as a float; it has no derivative."""
    require_float("ceil", x)
    return _rounded(x, math.ceil)


@operation("elementwise", differentiable=False)
def round_(x: TensorSpec) -> TensorSpec:
    """The nearest integer as a float, the even one of two; it has no derivative."""
    require_float("round", x)
    return _rounded(x, round)


@operation("elementwise", differentiable=False)
def trunc(x: TensorSpec) -> TensorSpec:
    """`x` without its fraction, as a float; it has no derivative."""
    require_float("trunc", x)
    return _rounded(x, math.trunc)


@operation("elementwise")
def sin(x: TensorSpec) -> TensorSpec:
    """Sine of `x` in radians."""
    require_float("sin", x)
    return replace(x, low=-1.0, high=1.0)


@operation("elementwise")
def cos(x: TensorSpec) -> TensorSpec:
    """Cosine of `x` in radians."""
    require_float("cos", x)
    return replace(x, low=-1.0, high=1.0)


@operation("elementwise")
def tan(x: TensorSpec) -> TensorSpec:
    """Tangent of `x` in radians."""
    require_float("tan", x)
    return x.unbounded()


@operation("elementwise")
def asin(x: TensorSpec) -> TensorSpec:
    """The angle in radians whose sine is `x`."""
    require_float("asin", x)
    return x.unbounded()


@operation("elementwise")
def acos(x: TensorSpec) -> TensorSpec:
    """The angle in radians whose cosine is `x`."""
    require_float("acos", x)
    return replace(x, low=0.0, high=None)


@operation("elementwise")
def atan(x: TensorSpec) -> TensorSpec:
    """The angle in radians whose tangent is `x`."""
    require_float("atan", x)
    return x.unbounded()


@operation("elementwise")
def sinh(x: TensorSpec) -> TensorSpec:
    """Hyperbolic sine."""
    require_float("sinh", x)
    return x.unbounded()


@operation("elementwise")
def cosh(x: TensorSpec) -> TensorSpec:
    """Hyperbolic cosine."""
    require_float("cosh", x)
    return replace(x, low=1.0, high=None)


@operation("elementwise")
def asinh(x: TensorSpec) -> TensorSpec:
    """Inverse hyperbolic sine."""
    require_float("asinh", x)
    return x.unbounded()


@operation("elementwise")
def acosh(x: TensorSpec) -> TensorSpec:
    """Inverse hyperbolic cosine of `x` from 1 on."""
    require_float("acosh", x)
    return replace(x, low=0.0, high=None)


@operation("elementwise")
def atanh(x: TensorSpec) -> TensorSpec:
    """Inverse hyperbolic tangent of `x` between -1 and 1."""
    require_float("atanh", x)
    return x.unbounded()


@operation("elementwise")
def erf(x: TensorSpec) -> TensorSpec:
    """The error function ``2 / sqrt(pi) * integral of exp(-t**2) from 0 to x``."""
    require_float("erf", x)
    return replace(x, low=-1.0, high=1.0)


@operation("elementwise")
def lgamma(x: TensorSpec) -> TensorSpec:
    """Logarithm of the gamma function of a positive `x`."""
    require_float("lgamma", x)
    return x.unbounded()


@operation("elementwise")
def digamma(x: TensorSpec) -> TensorSpec:
    """Derivative of `lgamma`, of a positive `x`."""
    require_float("digamma", x)
    return x.unbounded()
