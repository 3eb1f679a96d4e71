"""The normal distribution squashed into bounds."""

from __future__ import annotations

from typing import Any

from rlgraph.components.distributions.bounded_distribution import BoundedDistribution
from rlgraph.components.distributions.transformed_normal import TransformedNormal
from rlgraph.core.functional.distributions.squashed_normal import (
    squash,
    squashed_normal_entropy,
    squashed_normal_log_prob,
    unsquash,
)
from rlgraph.core.specs.spec_types import NumbersSpec


class SquashedNormal(TransformedNormal, BoundedDistribution):
    """``low + (tanh(x) + 1) (high - low) / 2`` of normal x: ``parameters (mean, stddev)`` of x, both ``[B, ...]``.

    The distribution of the actions of Soft Actor-Critic (Haarnoja et al., 2018, https://arxiv.org/abs/1801.01290,
    Appendix C). Samples are differentiable by the parameters. `sample_deterministic` squashes the mean, which gives
    the median. The divergence is that of the normal distributions, which squashing does not change; the entropy is
    computed by a quadrature. `sample_and_log_prob` knows x and is exact near the bounds. `log_prob` is not: in single
    precision x cannot be recovered from values near the bounds, so it treats values within 1e-6 of a bound (of -1..1)
    as lying there.

    Args:
        low, high: bounds of the values: a number, or one for each element of an action.

    Raises:
        SpecError: a bound is infinite, `low` is not below `high`, or their shapes differ.
        SpaceError: the parameters are not a Tuple of two floats of one shape, or their shape is not that of the bounds.
    """

    def __init__(
        self, low: NumbersSpec = -1.0, high: NumbersSpec = 1.0, scope: str = "squashed-normal", **kwargs: Any
    ):
        super().__init__(low, high, scope, **kwargs)

    def transform(self, ops: Any, x: Any) -> Any:
        return squash(ops, x, self.low, self.high)

    def invert(self, ops: Any, values: Any) -> Any:
        return unsquash(ops, values, self.low, self.high)

    def log_density(self, ops: Any, x: Any, mean: Any, stddev: Any) -> Any:
        return squashed_normal_log_prob(ops, x, mean, stddev, self.low, self.high)

    def entropies(self, ops: Any, mean: Any, stddev: Any) -> Any:
        return squashed_normal_entropy(ops, mean, stddev, self.low, self.high)
