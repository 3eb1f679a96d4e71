"""Losses of supervised learning. Items have any number of axes, ``[...]``: ``[B]``, ``[T, B]``."""

from __future__ import annotations

import math
from typing import Any

Tensor = Any


def categorical_cross_entropy(ops: Any, logits: Tensor, labels: Tensor) -> Tensor:
    """``-log softmax(logits)[label]``: ``logits [..., C], labels [...] (int64) -> [...]``.

    Goodfellow et al. (2016), section 6.2.2.3, https://www.deeplearningbook.org.
    """
    log_probs = ops.log_softmax(logits, axis=-1)
    picked = ops.take_along_axis(log_probs, ops.expand_dims(labels, -1), axis=-1)
    return -ops.squeeze(picked, axis=-1)


def soft_cross_entropy(ops: Any, logits: Tensor, probabilities: Tensor) -> Tensor:
    """``-sum_c p_c log softmax(logits)_c``: ``logits [..., C], probabilities [..., C] -> [...]``.

    The cross-entropy of two distributions; for one-hot ``p`` that of a label.
    """
    return -ops.sum(probabilities * ops.log_softmax(logits, axis=-1), axis=-1)


def divergence_from_uniform(ops: Any, logits: Tensor) -> Tensor:
    """``KL(uniform || softmax(logits))``: ``logits [..., C] -> [...]``; 0 where all classes are equally likely.

    Adding it to a cross-entropy is label smoothing: Pereyra et al. (2017), section 3.2,
    https://arxiv.org/abs/1701.06548.
    """
    return -ops.mean(ops.log_softmax(logits, axis=-1), axis=-1) - math.log(logits.shape[-1])


def euclidean_distance(ops: Any, predictions: Tensor, labels: Tensor, rank: int) -> Tensor:
    """``sqrt(sum_i (v_i - w_i)^2)`` over all axes but the first `rank`: ``[..., ...], [..., ...] -> [...]``.

    Where both are equal the derivative, which does not exist, is 0.
    """
    squares = ops.square(predictions - labels)
    axes = tuple(range(rank, len(squares.shape)))
    total = ops.sum(squares, axis=axes) if axes else squares
    apart = total > 0.0
    return ops.where(apart, ops.sqrt(ops.where(apart, total, 1.0)), 0.0)


def sequence_mask(ops: Any, sequence_length: Tensor, like: Tensor, time_axis: int) -> Tensor:
    """Mask (bool) of the valid steps: the first `sequence_length` of each sequence.

    Shapes: ``sequence_length [B] (int64), like [T, B]`` (or ``[B, T]``) ``-> `` that of `like`.
    """
    steps = ops.expand_dims(ops.arange(0, ops.shape(like)[time_axis]), 1 - time_axis)
    return steps < ops.expand_dims(sequence_length, time_axis)


def divergence(ops: Any, logits: Tensor, probabilities: Tensor) -> Tensor:
    """``KL(p || softmax(logits))``: ``logits [..., C], probabilities [..., C] -> [...]``; a probability may be 0.

    `soft_cross_entropy` minus the entropy of p: Cover and Thomas (2006), eq. 2.26.
    """
    possible = probabilities > 0.0
    logarithms = ops.log(ops.where(possible, probabilities, 1.0))
    return ops.sum(probabilities * (logarithms - ops.log_softmax(logits, axis=-1)), axis=-1)
