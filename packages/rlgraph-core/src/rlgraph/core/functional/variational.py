"""Variational auto-encoders: Kingma and Welling (2014), https://arxiv.org/abs/1312.6114.

The leading axes ``[...]`` of a tensor are items; the last `axes` axes belong to one item and are summed.
"""

from __future__ import annotations

from typing import Any

from rlgraph.core.functional.distributions.normal import normal_log_prob

Tensor = Any


def standard_normal_kl(ops: Any, mean: Tensor, log_variance: Tensor, axes: int = 1) -> Tensor:
    """KL(N(mean, exp(log_variance)) || N(0, 1)), ``[..., Z], [..., Z] -> [...]`` in nats (appendix B).

    ``-1/2 sum_j (1 + log s_j^2 - m_j^2 - s_j^2)``.
    """
    return -0.5 * _sum(ops, 1.0 + log_variance - ops.square(mean) - ops.exp(log_variance), axes)


def bernoulli_log_likelihood(ops: Any, inputs: Tensor, logits: Tensor, axes: int = 1) -> Tensor:
    """``sum_i x_i log p_i + (1 - x_i) log(1 - p_i)`` with ``p = sigmoid(logits)`` (appendix C.1), ``-> [...]``.

    ``inputs [..., N]`` are between 0 and 1; ``logits [..., N]``.
    """
    return _sum(ops, inputs * logits - ops.softplus(logits), axes)


def normal_log_likelihood(ops: Any, inputs: Tensor, means: Tensor, stddev: Tensor, axes: int = 1) -> Tensor:
    """The log-density of ``inputs [..., N]`` under ``N(means, stddev^2)`` (appendix C.2), ``-> [...]`` in nats."""
    return _sum(ops, normal_log_prob(ops, inputs, means, stddev), axes)


def evidence_lower_bound(ops: Any, log_likelihood: Tensor, kl: Tensor, beta: float = 1.0) -> Tensor:
    """``log p(x | z) - beta KL(q(z | x) || p(z))``, elementwise (eq. 3, one sample of z).

    With a `beta` other than 1 it is the objective of Higgins et al. (2017), eq. 4,
    https://openreview.net/forum?id=Sy2fzU9gl.
    """
    return log_likelihood - beta * kl


def _sum(ops: Any, terms: Tensor, axes: int) -> Tensor:
    return ops.sum(terms, axis=tuple(range(-axes, 0))) if axes else terms
