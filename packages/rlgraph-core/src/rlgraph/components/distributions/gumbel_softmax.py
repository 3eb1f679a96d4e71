"""The Gumbel-softmax distribution."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.distributions.distribution import Distribution
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.core.functional.distributions.gumbel_softmax import gumbel_softmax, gumbel_softmax_log_prob


class GumbelSoftmax(Distribution):
    """Relaxed one-hot vectors: ``parameters`` are logits ``[B, ..., A]``, values ``[B, ..., A]`` positive with sum 1.

    A categorical distribution whose samples are differentiable by the logits (Jang et al., 2017,
    https://arxiv.org/abs/1611.01144; Maddison et al., 2017, https://arxiv.org/abs/1611.00712). `sample_deterministic`
    is the one-hot vector of the largest logit. Entropy and divergence have no closed form: each is estimated from one
    sample, unbiased and differentiable.

    Args:
        temperature: above 0; the smaller, the nearer to one-hot.

    Raises:
        SpecError: the temperature is not above 0.
        SpaceError: the parameters are not floats with an axis of categories.
    """

    category_rank = 1

    def __init__(self, temperature: float = 1.0, scope: str = "gumbel-softmax", **kwargs: Any):
        self.temperature = check_number(temperature, f"{scope}.temperature", above=0)
        super().__init__(scope=scope, **kwargs)

    def value_shape(self, shape: tuple[Any, ...]) -> tuple[Any, ...]:
        return shape

    @rlgraph_api
    def entropy(self, parameters: Any) -> Any:
        """An estimate of the entropy in nats ``[B]``, by one sample."""
        _, log_probs = self.sample_and_log_prob(parameters)
        return self._negative(log_probs)

    @rlgraph_api(must_be_complete=False)
    def kl_divergence(self, parameters: Any, other_parameters: Any) -> Any:
        """An estimate of the divergence in nats ``[B]``, by one sample; a single one may be negative."""
        values, log_probs = self.sample_and_log_prob(parameters)
        return self._log_ratio(parameters, other_parameters, values, log_probs)

    @graph_fn
    def _sample(self, ops: Any, parameters: Any) -> Any:
        return gumbel_softmax(ops, parameters, ops.random_uniform(ops.shape(parameters)), self.temperature)

    @graph_fn
    def _mode(self, ops: Any, parameters: Any) -> Any:
        return ops.one_hot(ops.argmax(parameters, axis=-1), parameters.shape[-1])

    @graph_fn
    def _log_prob(self, ops: Any, parameters: Any, values: Any) -> Any:
        self.check_values(values, parameters)
        return self.sum_own(ops, gumbel_softmax_log_prob(ops, values, parameters, self.temperature))

    @graph_fn
    def _negative(self, ops: Any, log_probs: Any) -> Any:
        return -log_probs

    @graph_fn
    def _log_ratio(
        self, ops: Any, parameters: Any, other_parameters: Any, values: Any, log_probs: Any
    ) -> Any:
        self.check_others(other_parameters, parameters)
        others = gumbel_softmax_log_prob(ops, values, other_parameters, self.temperature)
        return log_probs - self.sum_own(ops, others)
