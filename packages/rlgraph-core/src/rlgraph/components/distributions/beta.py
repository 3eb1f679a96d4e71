"""The beta distribution."""

from __future__ import annotations

from typing import Any

from rlgraph.components.distributions.bounded_distribution import BoundedDistribution
from rlgraph.core import graph_fn
from rlgraph.core.functional.distributions.beta import (
    beta_entropy,
    beta_kl,
    beta_log_prob,
    log_gamma_variate,
    reparameterized_logits,
)
from rlgraph.core.functional.distributions.squashed_normal import log_half_range
from rlgraph.core.specs.spec_types import NumbersSpec

#: Number of proposals per gamma variate.
PROPOSALS = 8


class Beta(BoundedDistribution):
    """A beta distribution stretched from 0..1 to `low`..`high`: ``parameters (alpha, beta)``, both ``[B, ...]``.

    For bounded actions: Chou et al. (2017), https://proceedings.mlr.press/v70/chou17a.html. `sample_deterministic` is
    the mean, which is never at a bound.

    Args:
        low, high: bounds of the values: a number, or one for each element of an action.
        reparameterize: samples are differentiable by the parameters (Figurnov et al., 2018,
            https://arxiv.org/abs/1805.08498), which takes a quadrature for each element.

    Raises:
        SpecError: a bound is infinite, `low` is not below `high`, or their shapes differ.
        SpaceError: the parameters are not a Tuple of two floats of one shape, or their shape is not that of the bounds.
    """

    parameter_names = ("alpha", "beta")

    def __init__(
        self,
        low: NumbersSpec = 0.0,
        high: NumbersSpec = 1.0,
        reparameterize: bool = False,
        scope: str = "beta",
        **kwargs: Any,
    ):
        self.reparameterized = reparameterize
        super().__init__(low, high, scope, **kwargs)

    @graph_fn
    def _sample(self, ops: Any, parameters: Any) -> Any:
        first, second = (self._log_gamma(ops, ops.stop_gradient(shape)) for shape in parameters)
        logits = first - second
        if self.reparameterized:
            logits = reparameterized_logits(ops, logits, *parameters)
        return self._stretch(ops.sigmoid(logits))

    @graph_fn
    def _mode(self, ops: Any, parameters: Any) -> Any:
        alpha, beta = parameters
        return self._stretch(alpha / (alpha + beta))

    @graph_fn
    def _log_prob(self, ops: Any, parameters: Any, values: Any) -> Any:
        self.check_values(values, parameters)
        unit = (values - self.low) / (self.high - self.low)
        return self.sum_own(ops, beta_log_prob(ops, unit, *parameters) - self._log_range(ops))

    @graph_fn
    def _entropy(self, ops: Any, parameters: Any) -> Any:
        return self.sum_own(ops, beta_entropy(ops, *parameters) + self._log_range(ops))

    @graph_fn
    def _kl_divergence(self, ops: Any, parameters: Any, other_parameters: Any) -> Any:
        self.check_others(other_parameters, parameters)
        return self.sum_own(ops, beta_kl(ops, *parameters, *other_parameters))

    def _stretch(self, unit: Any) -> Any:
        return self.low + unit * (self.high - self.low)

    def _log_range(self, ops: Any) -> Any:
        return log_half_range(ops, 2.0 * self.low, 2.0 * self.high)

    def _log_gamma(self, ops: Any, shape: Any) -> Any:
        proposals = (PROPOSALS, *ops.shape(shape))
        return log_gamma_variate(
            ops,
            shape,
            ops.random_normal(proposals),
            ops.random_uniform(proposals),
            ops.random_uniform(ops.shape(shape)),
        )
