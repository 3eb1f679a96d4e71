"""Softmax: probabilities from logits."""

from __future__ import annotations

from typing import Any

from rlgraph.core import Component, graph_fn, rlgraph_api

#: The smallest probability, so that logarithms and quotients stay finite.
SMALLEST = 1e-6


class Softmax(Component):
    """``exp(x) / sum(exp(x))`` over the last axis, and its logarithm (Bridle, 1990)."""

    def __init__(self, scope: str = "softmax", **kwargs: Any):
        super().__init__(scope=scope, **kwargs)

    @rlgraph_api(returns=2)
    def softmax(self, logits: Any) -> Any:
        """Probabilities, at least `SMALLEST`, and their logarithms: ``logits [..., A]``, or a container of such."""
        return self._softmax(logits)

    @graph_fn(returns=2, flatten_ops=True, split_ops=True)
    def _softmax(self, ops: Any, logits: Any) -> Any:
        log_probabilities = ops.log_softmax(logits)
        return ops.maximum(ops.exp(log_probabilities), SMALLEST), log_probabilities
