"""Elementwise functions of one tensor, declared by tables."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from rlgraph.core.ops.checks import require_float, require_number
from rlgraph.core.ops.contract import operation
from rlgraph.core.ops.tensor_spec import TensorSpec

Bounds = tuple[float | None, float | None]


def _declare(
    name: str,
    meaning: str,
    bounds_of: Callable[[TensorSpec], Bounds],
    *,
    integers: bool,
    differentiable: bool,
) -> None:
    require = require_number if integers else require_float

    def rule(x: TensorSpec) -> TensorSpec:
        require(name, x)
        low, high = bounds_of(x)
        return replace(x, low=low, high=high)

    rule.__name__, rule.__doc__ = name, meaning
    operation("elementwise", differentiable=differentiable)(rule)


def _between(low: float | None, high: float | None) -> Callable[[TensorSpec], Bounds]:
    return lambda x: (low, high)


def _rounded(to_integer: Callable[[float], int]) -> Callable[[TensorSpec], Bounds]:
    def bounds(x: TensorSpec) -> Bounds:
        low, high = (None if bound is None else float(to_integer(bound)) for bound in (x.low, x.high))
        return low, high

    return bounds


#: name -> smallest and largest result, whether it takes integers, docstring.
_FUNCTIONS: dict[str, tuple[float | None, float | None, bool, str]] = {
    "exp": (0.0, None, False, "e to the power of `x`."),
    "log": (None, None, False, "Natural logarithm."),
    "sqrt": (0.0, None, False, "Square root."),
    "square": (0, None, True, "``x * x``."),
    "abs": (0, None, True, "Absolute value."),
    "tanh": (-1.0, 1.0, False, "Hyperbolic tangent."),
    "sigmoid": (0.0, 1.0, False, "``1 / (1 + exp(-x))``."),
    "expm1": (-1.0, None, False, "``exp(x) - 1``, exact near 0."),
    "log1p": (None, None, False, "``log(1 + x)``, exact near 0."),
    "reciprocal": (None, None, False, "``1 / x``."),
    "sin": (-1.0, 1.0, False, "Sine of `x` in radians."),
    "cos": (-1.0, 1.0, False, "Cosine of `x` in radians."),
    "tan": (None, None, False, "Tangent of `x` in radians."),
    "asin": (None, None, False, "The angle in radians whose sine is `x`."),
    "acos": (0.0, None, False, "The angle in radians whose cosine is `x`."),
    "atan": (None, None, False, "The angle in radians whose tangent is `x`."),
    "sinh": (None, None, False, "Hyperbolic sine."),
    "cosh": (1.0, None, False, "Hyperbolic cosine."),
    "asinh": (None, None, False, "Inverse hyperbolic sine."),
    "acosh": (0.0, None, False, "Inverse hyperbolic cosine of ``x >= 1``."),
    "atanh": (None, None, False, "Inverse hyperbolic tangent of `x` between -1 and 1."),
    "erf": (-1.0, 1.0, False, "The error function ``2 / sqrt(pi) * integral of exp(-t**2) from 0 to x``."),
    "lgamma": (None, None, False, "Logarithm of the gamma function, for positive `x`."),
    "digamma": (None, None, False, "Derivative of `lgamma`, for positive `x`."),
}

#: name -> rounding of the bounds, docstring.
_ROUNDINGS: dict[str, tuple[Callable[[float], int], str]] = {
    "floor": (math.floor, "The largest integer that is not above `x`, as a float; it has no derivative."),
    "ceil": (math.ceil, "The smallest integer that is not below `x`, as a float; it has no derivative."),
    "round": (round, "The nearest integer as a float, ties to even; it has no derivative."),
    "trunc": (math.trunc, "`x` without its fraction, as a float; it has no derivative."),
}

for _name, (_low, _high, _integers, _meaning) in _FUNCTIONS.items():
    _declare(_name, _meaning, _between(_low, _high), integers=_integers, differentiable=True)

for _name, (_to_integer, _meaning) in _ROUNDINGS.items():
    _declare(_name, _meaning, _rounded(_to_integer), integers=False, differentiable=False)

_declare(
    "sign",
    "-1, 0 or 1: the sign of `x`; it has no derivative.",
    lambda x: (-1, 2 if x.is_int else 1),
    integers=True,
    differentiable=False,
)
