"""The log-normal distribution above or below a bound."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.components.distributions.distribution_with_constants import (
    DistributionWithConstants,
    read_bounds,
)
from rlgraph.components.distributions.transformed_normal import TransformedNormal
from rlgraph.core import SpecError
from rlgraph.core.functional.distributions.log_normal import (
    from_half_line,
    log_normal_entropy,
    log_normal_log_prob,
    to_half_line,
)
from rlgraph.core.specs.spec_types import NumbersSpec


class LogNormal(TransformedNormal, DistributionWithConstants):
    """``low + exp(x)`` or ``high - exp(x)`` of normal x: ``parameters (mean, stddev)`` of x, both ``[B, ...]``.

    For values with one bound: the log-normal distribution (https://en.wikipedia.org/wiki/Log-normal_distribution),
    moved to the bound. Samples are differentiable by the parameters. `sample_deterministic` gives ``low + exp(mean)``,
    the median: it does not depend on the standard deviation, unlike the mode, which tends to the bound with it, and
    the mean, which tends to infinity. The divergence is that of the normal distributions. `sample_and_log_prob` knows x
    and is exact near the bound. `log_prob` treats values within 2e-9 of the bound as being at that distance.

    In single precision ``exp(x)`` is infinite above 88: the parameters must keep x below (as those of a
    `LogNormalDistributionAdapter` do).

    Args:
        low, high: the bound: a number, or one for each element of an action. None or an infinite number means no
            bound; each element has exactly one, lower or upper. Without any, `low` is 0.

    Raises:
        SpecError: an element has both bounds or none, or their shapes differ.
        SpaceError: the parameters are not a Tuple of two floats of one shape, or their shape is not that of the bounds.
    """

    bound: Any
    sign: Any

    def __init__(
        self, low: NumbersSpec = None, high: NumbersSpec = None, scope: str = "log-normal", **kwargs: Any
    ):
        lows, highs = read_bounds(0.0 if low is None and high is None else low, high, scope)
        below = np.isfinite(lows)
        if (below == np.isfinite(highs)).any():
            raise SpecError(
                f"expected one bound for each element, low or high, given {low!r}, {high!r}", path=scope
            )
        constants = {"bound": np.where(below, lows, highs), "sign": np.where(below, 1.0, -1.0)}
        super().__init__(constants, scope, **kwargs)

    def transform(self, ops: Any, x: Any) -> Any:
        return to_half_line(ops, x, self.bound, self.sign)

    def invert(self, ops: Any, values: Any) -> Any:
        return from_half_line(ops, values, self.bound, self.sign)

    def log_density(self, ops: Any, x: Any, mean: Any, stddev: Any) -> Any:
        return log_normal_log_prob(ops, x, mean, stddev)

    def entropies(self, ops: Any, mean: Any, stddev: Any) -> Any:
        return log_normal_entropy(ops, mean, stddev)
