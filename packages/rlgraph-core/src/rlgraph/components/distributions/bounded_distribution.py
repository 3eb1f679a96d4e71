"""Distributions over values between two bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.components.distributions.distribution_with_constants import (
    DistributionWithConstants,
    read_bounds,
)
from rlgraph.core import SpecError
from rlgraph.core.specs.spec_types import NumbersSpec


class BoundedDistribution(DistributionWithConstants):
    """A distribution over values between `low` and `high`.

    Args:
        low, high: a number, or one for each element of an action.

    Raises:
        SpecError: a bound is infinite, `low` is not below `high`, or their shapes differ.
        SpaceError: the shape of the bounds is not that of the parameters.
    """

    low: Any
    high: Any

    def __init__(self, low: NumbersSpec, high: NumbersSpec, scope: str, **kwargs: Any):
        lows, highs = read_bounds(low, high, scope)
        if not (np.isfinite(lows).all() and np.isfinite(highs).all() and (lows < highs).all()):
            raise SpecError(f"expected finite bounds low < high, given {low!r}, {high!r}", path=scope)
        super().__init__({"low": lows, "high": highs}, scope, **kwargs)
