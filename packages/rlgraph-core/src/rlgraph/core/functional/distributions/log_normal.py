"""The log-normal distribution on one side of a bound."""

from __future__ import annotations

import math
from typing import Any

from rlgraph.core.functional.distributions.normal import normal_entropy, normal_log_prob

Tensor = Any
#: A number, or a tensor of the shape of one action.
Number = Any

#: Values are clipped to at least this distance from their bound: 2e-9.
BORDER = math.exp(-20.0)


def to_half_line(ops: Any, x: Tensor, bound: Number, sign: Number) -> Tensor:
    """``bound + sign exp(x)``, elementwise: above the bound with the sign 1, below it with -1."""
    return bound + sign * ops.exp(x)


def from_half_line(ops: Any, values: Tensor, bound: Number, sign: Number) -> Tensor:
    """The inverse of `to_half_line`; values closer to the bound than `BORDER` are clipped."""
    return ops.log(ops.maximum(sign * (values - bound), BORDER))


def log_normal_log_prob(ops: Any, x: Tensor, mean: Tensor, stddev: Tensor) -> Tensor:
    """The log-density at ``to_half_line(x)`` where x has the distribution ``Normal(mean, stddev)``, elementwise.

    ``log Normal(x) - x``: the change of variables, since the derivative of exp(x) is exp(x). For values,
    x is ``from_half_line(values)``; pass the drawn x itself to keep full precision.
    https://en.wikipedia.org/wiki/Log-normal_distribution
    """
    return normal_log_prob(ops, x, mean, stddev) - x


def log_normal_entropy(ops: Any, mean: Tensor, stddev: Tensor) -> Tensor:
    """``H(Normal) + mean``, elementwise: the entropy of x plus the mean of ``log(exp'(x))``."""
    return normal_entropy(ops, stddev) + mean
