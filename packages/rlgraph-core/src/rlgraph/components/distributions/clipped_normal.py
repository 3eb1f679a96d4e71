"""The normal distribution clipped to bounds."""

from __future__ import annotations

from typing import Any

from rlgraph.components.distributions.bounded_distribution import BoundedDistribution
from rlgraph.components.distributions.transformed_normal import TransformedNormal
from rlgraph.core.functional.distributions.normal import normal_entropy, normal_log_prob
from rlgraph.core.functional.distributions.squashed_normal import log_half_range
from rlgraph.core.specs.spec_types import NumbersSpec


class ClippedNormal(TransformedNormal, BoundedDistribution):
    """``low + (x + 1) (high - low) / 2``, clipped to the bounds, of normal x: ``parameters (mean, stddev)`` of x, both
    ``[B, ...]``.

    To imitate actions that lie at their bounds, where the densities of beta and squashed normal distributions have no
    finite value. Densities, entropies and divergences are those before clipping, as in Implicit Q-Learning (Kostrikov
    et al., 2022, https://arxiv.org/abs/2110.06169, in the authors' code). Clipped samples have no derivatives.

    Args:
        low, high: bounds of the values: a number, or one for each element of an action.

    Raises:
        SpecError: a bound is infinite, `low` is not below `high`, or their shapes differ.
        SpaceError: the parameters are not a Tuple of two floats of one shape, or their shape is not that of the bounds.
    """

    reparameterized = False

    def __init__(
        self, low: NumbersSpec = -1.0, high: NumbersSpec = 1.0, scope: str = "clipped-normal", **kwargs: Any
    ):
        super().__init__(low, high, scope, **kwargs)

    def transform(self, ops: Any, x: Any) -> Any:
        return self.low + (ops.clip(x, -1.0, 1.0) + 1.0) * (0.5 * (self.high - self.low))

    def invert(self, ops: Any, values: Any) -> Any:
        return (values - self.low) / (0.5 * (self.high - self.low)) - 1.0

    def log_density(self, ops: Any, x: Any, mean: Any, stddev: Any) -> Any:
        return normal_log_prob(ops, x, mean, stddev) - log_half_range(ops, self.low, self.high)

    def entropies(self, ops: Any, mean: Any, stddev: Any) -> Any:
        return normal_entropy(ops, stddev) + log_half_range(ops, self.low, self.high)
