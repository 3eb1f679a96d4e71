"""The Bernoulli distribution of bools."""

from __future__ import annotations

from typing import Any

Tensor = Any


def bernoulli_log_prob(ops: Any, values: Tensor, logits: Tensor) -> Tensor:
    """The log-probability of bools: ``log(sigmoid(logit))`` where true, else ``log(sigmoid(-logit))``; elementwise."""
    return ops.log_sigmoid(ops.where(values, logits, -logits))


def bernoulli_entropy(ops: Any, logits: Tensor) -> Tensor:
    """``-p log(p) - (1 - p) log(1 - p)`` with ``p = sigmoid(logit)``, elementwise (Cover and Thomas, 2006, eq. 2.5)."""
    return ops.softplus(logits) - logits * ops.sigmoid(logits)


def bernoulli_kl(ops: Any, logits: Tensor, other_logits: Tensor) -> Tensor:
    """KL(p || q) ``= p log(p / q) + (1 - p) log((1 - p) / (1 - q))``, elementwise."""
    return ops.sigmoid(logits) * (logits - other_logits) + ops.softplus(other_logits) - ops.softplus(logits)
