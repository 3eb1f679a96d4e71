"""The normal distribution squashed into bounds by tanh."""

from __future__ import annotations

import math
from typing import Any

from rlgraph.core.functional.distributions.normal import normal_entropy, normal_log_prob

Tensor = Any
#: A number, or a tensor of the shape of one action.
Bound = Any

#: Values are clipped to at least this distance from their bounds, after scaling to [-1, 1].
BORDER = 1e-6
#: Points of the quadrature, from -8 to 8 standard deviations.
NODES = 129


def squash(ops: Any, x: Tensor, low: Bound, high: Bound) -> Tensor:
    """``low + (tanh(x) + 1) (high - low) / 2``, elementwise."""
    return low + (ops.tanh(x) + 1.0) * (0.5 * (high - low))


def unsquash(ops: Any, values: Tensor, low: Bound, high: Bound) -> Tensor:
    """The inverse of `squash`; values closer to a bound than `BORDER` are clipped."""
    unit = (values - low) / (0.5 * (high - low)) - 1.0
    return ops.atanh(ops.clip(unit, BORDER - 1.0, 1.0 - BORDER))


def log_tanh_derivative(ops: Any, x: Tensor) -> Tensor:
    """``log(1 - tanh(x)^2)`` as ``2 (log(2) - x - softplus(-2 x))``, which is exact for large x; elementwise.

    Haarnoja et al. (2018), Appendix C, eq. 21, https://arxiv.org/abs/1801.01290, in the form of TensorFlow
    Probability's Tanh bijector.
    """
    return 2.0 * (math.log(2.0) - x - ops.softplus(-2.0 * x))


def log_half_range(ops: Any, low: Bound, high: Bound) -> Any:
    """``log((high - low) / 2)``; a number if both bounds are numbers."""
    half = 0.5 * (high - low)
    return math.log(half) if isinstance(half, float) else ops.log(half)


def squashed_normal_log_prob(
    ops: Any, x: Tensor, mean: Tensor, stddev: Tensor, low: Bound, high: Bound
) -> Tensor:
    """The log-density at ``squash(x)`` where x has the distribution ``Normal(mean, stddev)``, elementwise.

    ``log Normal(x) - log(1 - tanh(x)^2) - log((high - low) / 2)``: the change of variables. For values,
    x is ``unsquash(values)``; pass the drawn x itself to keep full precision.
    """
    density = normal_log_prob(ops, x, mean, stddev) - log_tanh_derivative(ops, x)
    return density - log_half_range(ops, low, high)


def squashed_normal_entropy(ops: Any, mean: Tensor, stddev: Tensor, low: Bound, high: Bound) -> Tensor:
    """``H(Normal) + E[log(1 - tanh(x)^2)] + log((high - low) / 2)``, elementwise.

    The expectation has no closed form. The trapezoidal rule at `NODES` points computes it without noise, to 1e-6
    for standard deviations up to 3, and to 1e-3 at e^2 (for its accuracy on analytic functions see
    Trefethen and Weideman, 2014, https://doi.org/10.1137/130932132).
    """
    z = ops.linspace(-8.0, 8.0, NODES)
    weights = ops.exp(-0.5 * ops.square(z))
    weights = weights / ops.sum(weights)
    x = ops.expand_dims(mean, -1) + ops.expand_dims(stddev, -1) * z
    expectation = ops.sum(weights * log_tanh_derivative(ops, x), axis=-1)
    return normal_entropy(ops, stddev) + expectation + log_half_range(ops, low, high)
