"""Normalisation of activations."""

from __future__ import annotations

from typing import Any

Tensor = Any


def local_response_norm(
    ops: Any,
    x: Tensor,
    depth_radius: int = 5,
    bias: float = 1.0,
    alpha: float = 1.0,
    beta: float = 0.5,
) -> Tensor:
    """``x / (bias + alpha * s)^beta``, where s is the sum of squares of the channels at most `depth_radius` away.

    ``x [..., C] -> [..., C]``. Krizhevsky et al. (2012), section 3.3,
    https://papers.nips.cc/paper/4824-imagenet-classification-with-deep-convolutional-neural-networks.
    """
    channels = x.shape[-1]
    band = ops.tril(ops.triu(ops.ones((channels, channels)), -depth_radius), depth_radius)
    return x * (bias + alpha * ops.matmul(ops.square(x), band)) ** -beta
