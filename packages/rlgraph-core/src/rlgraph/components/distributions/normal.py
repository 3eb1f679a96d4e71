"""The normal distribution."""

from __future__ import annotations

from typing import Any

from rlgraph.components.distributions.distribution import Distribution
from rlgraph.core import graph_fn
from rlgraph.core.functional.distributions.normal import normal_entropy, normal_kl, normal_log_prob


class Normal(Distribution):
    """A normal distribution for each element: ``parameters (mean, stddev)``, both ``[B, ...]``; values ``[B, ...]``.

    Samples are ``mean + stddev * noise``, and differentiable by both (Kingma and Welling, 2014,
    https://arxiv.org/abs/1312.6114, section 2.4).

    Raises:
        SpaceError: the parameters are not a Tuple of two floats of one shape.
    """

    parameter_names = ("mean", "stddev")

    def __init__(self, scope: str = "normal", **kwargs: Any):
        super().__init__(scope=scope, **kwargs)

    @graph_fn
    def _sample(self, ops: Any, parameters: Any) -> Any:
        mean, stddev = parameters
        return mean + stddev * ops.random_normal(ops.shape(mean))

    @graph_fn
    def _mode(self, ops: Any, parameters: Any) -> Any:
        return parameters[0]

    @graph_fn
    def _log_prob(self, ops: Any, parameters: Any, values: Any) -> Any:
        self.check_values(values, parameters)
        return self.sum_own(ops, normal_log_prob(ops, values, *parameters))

    @graph_fn
    def _entropy(self, ops: Any, parameters: Any) -> Any:
        return self.sum_own(ops, normal_entropy(ops, parameters[1]))

    @graph_fn
    def _kl_divergence(self, ops: Any, parameters: Any, other_parameters: Any) -> Any:
        self.check_others(other_parameters, parameters)
        return self.sum_own(ops, normal_kl(ops, *parameters, *other_parameters))
