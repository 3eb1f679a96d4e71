"""Mixtures of distributions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.distributions.distribution import Distribution
from rlgraph.core import SpecError, graph_fn, rlgraph_api
from rlgraph.core.functional.distributions.categorical import log_probabilities
from rlgraph.core.specs.spec_types import ComponentSpec
from rlgraph.spaces import Dict, FloatBox, Space, SpaceError


class MixtureDistribution(Distribution):
    """One of K distributions over the same values, chosen by a categorical distribution.

    ``parameters`` are a dict with ``categorical``, logits ``[B, K]``, and the parameters of the distributions,
    ``parameters0``, ``parameters1`` and so on; values are ``[B, ...]``. ``log p(x) = logsumexp(log w_k + log p_k(x))``
    (Bishop, 1994, Mixture Density Networks). `sample_deterministic` returns that of the most probable distribution.
    Samples are not differentiable. Entropy and divergence are estimated without bias from one sample of each
    distribution; they are differentiable if the samples of all K are.

    Args:
        sub_distributions: distributions or their specs.

    Raises:
        SpecError: no distribution.
        SpaceError: `parameters` is not such a Dict.
    """

    reparameterized = False

    def __init__(self, sub_distributions: ComponentSpec, scope: str = "mixture", **kwargs: Any):
        if not isinstance(sub_distributions, list | tuple) or not sub_distributions:
            raise SpecError(
                f"expected a list of distributions, given {sub_distributions!r}",
                path=f"{scope}.sub_distributions",
            )
        self.parts = {}
        for k, spec in enumerate(sub_distributions):
            part = Distribution.from_spec(spec, path=f"{scope}.sub_distributions[{k}]", scope=f"part-{k}")
            self.parts[f"parameters{k}"] = part
        super().__init__(*self.parts.values(), scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        space = input_spaces["parameters"]
        wanted = ["categorical", *self.parts]
        weights = space["categorical"] if isinstance(space, Dict) and "categorical" in space else None
        if not isinstance(weights, FloatBox) or weights.shape != (len(self.parts),):
            raise SpaceError(
                f"parameters: expected a Dict of {wanted}, categorical of shape [{len(self.parts)}], given {space!r}"
            )

    @rlgraph_api
    def sample_stochastic(self, parameters: Any) -> Any:
        """One sample of each distribution ``[B, ...]``."""
        values = [part.sample_stochastic(parameters[name]) for name, part in self.parts.items()]
        return self._pick(self._sample(parameters["categorical"]), tuple(values))

    @rlgraph_api
    def sample_deterministic(self, parameters: Any) -> Any:
        """`sample_deterministic` of the most probable one of the K distributions ``[B, ...]``."""
        values = [part.sample_deterministic(parameters[name]) for name, part in self.parts.items()]
        return self._pick(self._mode(parameters["categorical"]), tuple(values))

    @rlgraph_api(must_be_complete=False)
    def log_prob(self, parameters: Any, values: Any) -> Any:
        """The logarithm of the probability, or of the density, of values ``[B, ...] -> [B]``."""
        log_probs = [part.log_prob(parameters[name], values) for name, part in self.parts.items()]
        return self._log_prob(self.accept(parameters)["categorical"], tuple(log_probs))

    @rlgraph_api
    def entropy(self, parameters: Any) -> Any:
        """An estimate of the entropy in nats ``[B]``, from one sample of each of the K distributions."""
        terms = [self._negative(self.log_prob(parameters, x)) for x in self._samples(parameters)]
        return self._expectation(parameters["categorical"], tuple(terms))

    @rlgraph_api(must_be_complete=False)
    def kl_divergence(self, parameters: Any, other_parameters: Any) -> Any:
        """An estimate of the divergence in nats ``[B]``, from one sample of each of the K; it may be negative."""
        terms = [
            self._difference(self.log_prob(parameters, x), self.log_prob(other_parameters, x))
            for x in self._samples(parameters)
        ]
        return self._expectation(parameters["categorical"], tuple(terms))

    def _samples(self, parameters: Any) -> list[Any]:
        return [part.sample_stochastic(parameters[name]) for name, part in self.parts.items()]

    @graph_fn
    def _sample(self, ops: Any, logits: Any) -> Any:
        return ops.random_categorical(logits)

    @graph_fn
    def _mode(self, ops: Any, logits: Any) -> Any:
        return ops.argmax(logits, axis=-1)

    @graph_fn
    def _pick(self, ops: Any, chosen: Any, values: Any) -> Any:
        """``chosen [B]``, K values ``[B, ...] -> [B, ...]``."""
        for _ in range(len(values[0].shape) - len(chosen.shape)):
            chosen = ops.expand_dims(chosen, -1)
        result = values[0]
        for k, value in enumerate(values[1:], start=1):
            result = ops.where(chosen == k, value, result)
        return result

    @graph_fn
    def _log_prob(self, ops: Any, logits: Any, log_probs: Any) -> Any:
        return ops.logsumexp(log_probabilities(ops, logits) + ops.stack(log_probs, axis=-1), axis=-1)

    @graph_fn
    def _expectation(self, ops: Any, logits: Any, terms: Any) -> Any:
        """``logits [B, K]``, K terms ``[B] -> [B]``."""
        return ops.sum(ops.softmax(logits, axis=-1) * ops.stack(terms, axis=-1), axis=-1)

    @graph_fn
    def _negative(self, ops: Any, log_probs: Any) -> Any:
        return -log_probs

    @graph_fn
    def _difference(self, ops: Any, log_probs: Any, other_log_probs: Any) -> Any:
        return log_probs - other_log_probs
