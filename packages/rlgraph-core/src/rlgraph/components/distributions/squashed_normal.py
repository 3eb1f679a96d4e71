"""The normal distribution squashed into bounds."""

from __future__ import annotations

from typing import Any

from rlgraph.components.distributions.bounded import BoundedDistribution
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.core.functional.distributions.normal import normal_kl
from rlgraph.core.functional.distributions.squashed_normal import (
    squash,
    squashed_normal_entropy,
    squashed_normal_log_prob,
    unsquash,
)


class SquashedNormal(BoundedDistribution):
    """``low + (tanh(x) + 1) (high - low) / 2`` of normal x: ``parameters (mean, stddev)`` of x, both ``[B, ...]``.

    The distribution of the actions of Soft Actor-Critic (Haarnoja et al., 2018, https://arxiv.org/abs/1801.01290,
    Appendix C). Samples are differentiable by the parameters. `sample_deterministic` squashes the mean, and so is the
    median. The divergence is that of the normal distributions, as both are squashed alike; the entropy is computed by a
    quadrature. In `sample_and_log_prob` nothing has to be unsquashed: it is exact near the bounds, too. `log_prob` of
    the same values is not: in single precision they do not tell any more which x they come from, and what is within
    1e-6 of a bound (of -1..1) is taken to be there.

    Args:
        low, high: bounds of the values: a number, or one for each element of an action.
        scope: name among its siblings.

    Raises:
        SpecError: a bound is infinite, `low` is not below `high`, or their shapes differ.
        SpaceError: the parameters are no Tuple of two floats of one shape, or there is a bound for each element, and
            not as many as the parameters have.
    """

    parameter_names = ("mean", "stddev")

    def __init__(self, low: Any = -1.0, high: Any = 1.0, scope: str = "squashed-normal", **kwargs: Any):
        super().__init__(low, high, scope, **kwargs)

    @rlgraph_api(returns=2)
    def sample_and_log_prob(self, parameters: Any, deterministic: Any = None) -> Any:
        """What `draw` gives ``[B, ...]``, and its log-probability ``[B]``."""
        mean = parameters[0]
        if deterministic is True:
            x = mean
        elif deterministic is None or deterministic is False:
            x = self._sample_unsquashed(parameters)
        else:
            x = self._choose(deterministic, mean, self._sample_unsquashed(parameters))
        return self._squash_with_log_prob(parameters, x)

    @graph_fn
    def _sample(self, ops: Any, parameters: Any) -> Any:
        return squash(ops, self._unsquashed(ops, parameters), self.low, self.high)

    @graph_fn
    def _mode(self, ops: Any, parameters: Any) -> Any:
        return squash(ops, parameters[0], self.low, self.high)

    @graph_fn
    def _log_prob(self, ops: Any, parameters: Any, values: Any) -> Any:
        self.check_values(values, parameters)
        return self._density(ops, parameters, unsquash(ops, values, self.low, self.high))

    @graph_fn
    def _entropy(self, ops: Any, parameters: Any) -> Any:
        mean, stddev = parameters
        return self.sum_own(ops, squashed_normal_entropy(ops, mean, stddev, self.low, self.high))

    @graph_fn
    def _kl_divergence(self, ops: Any, parameters: Any, other_parameters: Any) -> Any:
        self.check_others(other_parameters, parameters)
        return self.sum_own(ops, normal_kl(ops, *parameters, *other_parameters))

    @graph_fn
    def _sample_unsquashed(self, ops: Any, parameters: Any) -> Any:
        return self._unsquashed(ops, parameters)

    @graph_fn(returns=2)
    def _squash_with_log_prob(self, ops: Any, parameters: Any, x: Any) -> Any:
        return squash(ops, x, self.low, self.high), self._density(ops, parameters, x)

    def _unsquashed(self, ops: Any, parameters: Any) -> Any:
        mean, stddev = parameters
        return mean + stddev * ops.random_normal(ops.shape(mean))

    def _density(self, ops: Any, parameters: Any, x: Any) -> Any:
        mean, stddev = parameters
        return self.sum_own(ops, squashed_normal_log_prob(ops, x, mean, stddev, self.low, self.high))
