"""The Gumbel-softmax distribution: almost one-hot vectors, differentiable with respect to the logits."""

from __future__ import annotations

import math
from typing import Any

Tensor = Any


def gumbel_noise(ops: Any, uniforms: Tensor) -> Tensor:
    """``-log(-log(u))`` of uniform numbers between 0 and 1, elementwise (Gumbel, 1954)."""
    return -ops.log(-ops.log(ops.clip(uniforms, 1e-10, 1.0 - 6e-8)))


def gumbel_softmax(ops: Any, logits: Tensor, uniforms: Tensor, temperature: float) -> Tensor:
    """``softmax((logits + g) / temperature)`` with Gumbel noise g: ``logits, uniforms [..., A] -> [..., A]``.

    Jang et al. (2017), eq. 2, https://arxiv.org/abs/1611.01144; Maddison et al. (2017), eq. 10.
    """
    return ops.softmax((logits + gumbel_noise(ops, uniforms)) / temperature, axis=-1)


def gumbel_softmax_log_prob(ops: Any, values: Tensor, logits: Tensor, temperature: float) -> Tensor:
    """The log-density of vectors of positive numbers whose sum is 1: ``values, logits [..., A] -> [...]``.

    Maddison et al. (2017), eq. 10, https://arxiv.org/abs/1611.00712: ``(A - 1)! t^(A - 1) prod(a_k y_k^(-t - 1)) /
    (sum(a_k y_k^-t))^A`` with temperature t and ``a = exp(logits)``; a density over the first A - 1 elements.
    """
    count = values.shape[-1]
    log_y = ops.log(ops.maximum(values, 1e-30))
    constant = math.lgamma(count) + (count - 1) * math.log(temperature)
    terms = ops.sum(logits - (temperature + 1.0) * log_y, axis=-1)
    return constant + terms - count * ops.logsumexp(logits - temperature * log_y, axis=-1)
