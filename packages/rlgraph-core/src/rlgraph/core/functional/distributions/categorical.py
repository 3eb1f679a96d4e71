"""The categorical distribution, by logits."""

from __future__ import annotations

from typing import Any

Tensor = Any

#: The logit and the log-probability of impossible categories; finite, so that ``0 * log(0)`` and its derivative are 0.
IMPOSSIBLE = -1e30


def mask_logits(ops: Any, logits: Tensor, mask: Tensor) -> Tensor:
    """`logits` with the categories that ``mask [..., A]`` (bool) forbids made impossible: ``[..., A] -> [..., A]``.

    No gradient flows into the logits of masked categories. A row that allows nothing counts as one that allows
    everything. Huang and Ontañón (2022), https://arxiv.org/abs/2006.14171.
    """
    nothing = ~ops.any(mask, axis=-1, keepdims=True)
    return ops.where(mask | nothing, logits, IMPOSSIBLE)


def log_probabilities(ops: Any, logits: Tensor) -> Tensor:
    """``log(softmax(logits))``, at least `IMPOSSIBLE`: ``[..., A] -> [..., A]``; logits may be minus infinity."""
    return ops.maximum(ops.log_softmax(logits, axis=-1), IMPOSSIBLE)


def categorical_log_prob(ops: Any, values: Tensor, logits: Tensor) -> Tensor:
    """The log-probability of categories: ``values [...] (int64), logits [..., A] -> [...]``."""
    return log_p_of(ops, values, log_probabilities(ops, logits))


def log_p_of(ops: Any, values: Tensor, log_p: Tensor) -> Tensor:
    """The log-probabilities of the categories: ``values [...] (int64), log_p [..., A] -> [...]``."""
    return ops.squeeze(ops.take_along_axis(log_p, ops.expand_dims(values, -1), axis=-1), axis=-1)


def categorical_entropy(ops: Any, logits: Tensor) -> Tensor:
    """``-sum(p log(p))``: ``[..., A] -> [...]`` (Shannon, 1948)."""
    return entropy_of_log_p(ops, log_probabilities(ops, logits))


def entropy_of_log_p(ops: Any, log_p: Tensor) -> Tensor:
    """`categorical_entropy` of ``log_p``, the `log_probabilities`: ``[..., A] -> [...]``."""
    return -ops.sum(ops.exp(log_p) * log_p, axis=-1)


def categorical_kl(ops: Any, logits: Tensor, other_logits: Tensor) -> Tensor:
    """KL(p || q) ``= sum(p log(p / q))``: ``[..., A], [..., A] -> [...]`` (Kullback and Leibler, 1951).

    Categories impossible under p add nothing; those possible under p but impossible under q add about 1e30.
    """
    log_p, log_q = log_probabilities(ops, logits), log_probabilities(ops, other_logits)
    return ops.sum(ops.exp(log_p) * (log_p - log_q), axis=-1)
