"""Distributions of transformed normal variables."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from rlgraph.components.distributions.distribution import Distribution
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.core.functional.distributions.normal import normal_kl


class TransformedNormal(Distribution):
    """The distribution of ``f(x)``, x normal and f monotonic: ``parameters (mean, stddev)`` of x, both ``[B, ...]``.

    Samples are differentiable by the parameters. `sample_deterministic` gives ``f(mean)``, which is the median: unlike
    mode and mean it does not depend on the standard deviation, so greedy actions do not depend on exploration.
    The divergence is that of the normal distributions, which f does not change. `sample_and_log_prob` knows x;
    `log_prob` inverts f. A subclass defines f, its inverse, densities and entropies.
    """

    parameter_names = ("mean", "stddev")

    @abstractmethod
    def transform(self, ops: Any, x: Any) -> Any:
        """``f(x)``, elementwise."""

    @abstractmethod
    def invert(self, ops: Any, values: Any) -> Any:
        """The x of ``values = f(x)``, elementwise."""

    @abstractmethod
    def log_density(self, ops: Any, x: Any, mean: Any, stddev: Any) -> Any:
        """The log-density at ``f(x)``, elementwise."""

    @abstractmethod
    def entropies(self, ops: Any, mean: Any, stddev: Any) -> Any:
        """The entropy of each element."""

    @rlgraph_api(returns=2)
    def sample_and_log_prob(self, parameters: Any, deterministic: Any = None) -> Any:
        """The result of `draw` ``[B, ...]``, and its log-probability ``[B]``."""
        mean = parameters[0]
        if deterministic is True:
            x = mean
        elif deterministic is None or deterministic is False:
            x = self._sample_normal(parameters)
        else:
            x = self._choose(deterministic, mean, self._sample_normal(parameters))
        return self._transform_with_log_prob(parameters, x)

    @graph_fn
    def _sample(self, ops: Any, parameters: Any) -> Any:
        return self.transform(ops, _normal(ops, *parameters))

    @graph_fn
    def _mode(self, ops: Any, parameters: Any) -> Any:
        return self.transform(ops, parameters[0])

    @graph_fn
    def _log_prob(self, ops: Any, parameters: Any, values: Any) -> Any:
        self.check_values(values, parameters)
        return self.sum_own(ops, self.log_density(ops, self.invert(ops, values), *parameters))

    @graph_fn
    def _entropy(self, ops: Any, parameters: Any) -> Any:
        return self.sum_own(ops, self.entropies(ops, *parameters))

    @graph_fn
    def _kl_divergence(self, ops: Any, parameters: Any, other_parameters: Any) -> Any:
        self.check_others(other_parameters, parameters)
        return self.sum_own(ops, normal_kl(ops, *parameters, *other_parameters))

    @graph_fn
    def _sample_normal(self, ops: Any, parameters: Any) -> Any:
        return _normal(ops, *parameters)

    @graph_fn(returns=2)
    def _transform_with_log_prob(self, ops: Any, parameters: Any, x: Any) -> Any:
        return self.transform(ops, x), self.sum_own(ops, self.log_density(ops, x, *parameters))


def _normal(ops: Any, mean: Any, stddev: Any) -> Any:
    return mean + stddev * ops.random_normal(ops.shape(mean))
