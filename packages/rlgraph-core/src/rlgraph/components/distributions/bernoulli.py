"""The Bernoulli distribution."""

from __future__ import annotations

from typing import Any

from rlgraph.components.distributions.distribution import Distribution
from rlgraph.core import graph_fn
from rlgraph.core.functional.distributions.bernoulli import (
    bernoulli_entropy,
    bernoulli_kl,
    bernoulli_log_prob,
)


class Bernoulli(Distribution):
    """A Bernoulli distribution for each element: ``parameters`` are logits ``[B, ...]``, values bools ``[B, ...]``.

    A logit is ``log(p / (1 - p))`` of the probability p of true. `sample_deterministic` is true if p is above 1/2.

    Raises:
        SpaceError: the parameters are not floats.
    """

    reparameterized = False
    value_kind = "bool"

    def __init__(self, scope: str = "bernoulli", **kwargs: Any):
        super().__init__(scope=scope, **kwargs)

    @graph_fn
    def _sample(self, ops: Any, parameters: Any) -> Any:
        return ops.random_bernoulli(ops.sigmoid(parameters))

    @graph_fn
    def _mode(self, ops: Any, parameters: Any) -> Any:
        return parameters > 0.0

    @graph_fn(space_of="values")
    def _log_prob(self, ops: Any, space: Any, parameters: Any, values: Any) -> Any:
        self.check_values(values, parameters)
        bools = values if space.dtype == "bool" else ops.astype(values, "bool")
        return self.sum_own(ops, bernoulli_log_prob(ops, bools, parameters))

    @graph_fn
    def _entropy(self, ops: Any, parameters: Any) -> Any:
        return self.sum_own(ops, bernoulli_entropy(ops, parameters))

    @graph_fn
    def _kl_divergence(self, ops: Any, parameters: Any, other_parameters: Any) -> Any:
        self.check_others(other_parameters, parameters)
        return self.sum_own(ops, bernoulli_kl(ops, parameters, other_parameters))
