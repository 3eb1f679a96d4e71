"""Distributions of returns instead of their means: atoms at ``positions``, or quantiles."""

from __future__ import annotations

from typing import Any

from rlgraph.core.functional.q_learning import huber, q_learning_target

Tensor = Any


def distributional_targets(
    ops: Any, rewards: Tensor, terminals: Tensor, positions: Tensor, discount: Any
) -> Tensor:
    """The atoms of the next state after the Bellman update: ``r + discount * z``, or r where the episode terminated.

    Shapes: ``rewards [B], terminals [B] (bool), positions [B, N]`` (quantiles) or ``[N]`` (a support), `discount` a
    number or ``[B] -> [B, N]``. Bellemare et al. (2017), Algorithm 1, https://arxiv.org/abs/1707.06887; Dabney et al.
    (2018), Algorithm 1, https://arxiv.org/abs/1710.10044. No gradient flows through the targets.
    """
    if hasattr(discount, "shape") and len(discount.shape) > 0:
        discount = ops.expand_dims(discount, -1)
    return q_learning_target(
        ops, ops.expand_dims(rewards, -1), ops.expand_dims(terminals, -1), positions, discount
    )


def categorical_projection(
    ops: Any, positions: Tensor, probabilities: Tensor, low: float, high: float, num_atoms: int
) -> Tensor:
    """Project a distribution with any atoms onto `num_atoms` evenly spaced atoms from `low` to `high`.

    The probability of an atom is shared between its two neighbours by proximity; positions are clipped to the range.
    Shapes: ``positions [..., N], probabilities [..., N] -> [..., num_atoms]``. Bellemare et al. (2017), eq. 7.
    """
    support = ops.linspace(low, high, num_atoms)
    spacing = (high - low) / (num_atoms - 1)
    distances = ops.abs(ops.expand_dims(ops.clip(positions, low, high), -1) - support) / spacing
    shares = ops.maximum(1.0 - distances, 0.0)
    return ops.sum(ops.expand_dims(probabilities, -1) * shares, axis=-2)


def categorical_means(ops: Any, probabilities: Tensor, low: float, high: float) -> Tensor:
    """Expected values of distributions on N evenly spaced atoms: ``probabilities [..., N] -> [...]``.

    Bellemare et al. (2017), Algorithm 1.
    """
    return ops.sum(probabilities * ops.linspace(low, high, probabilities.shape[-1]), axis=-1)


def quantile_midpoints(ops: Any, num_quantiles: int) -> Tensor:
    """``(2 i + 1) / (2 N)`` for i from 0: ``[N]``. Dabney et al. (2018), lemma 2."""
    half = 0.5 / num_quantiles
    return ops.linspace(half, 1.0 - half, num_quantiles) if num_quantiles > 1 else ops.full((1,), half)


def quantile_means(ops: Any, quantiles: Tensor) -> Tensor:
    """Expected values of N equally likely atoms: ``quantiles [..., N] -> [...]``. Dabney et al. (2018), Algorithm 1."""
    return ops.mean(quantiles, axis=-1)


def quantile_projection(ops: Any, positions: Tensor, probabilities: Tensor, num_quantiles: int) -> Tensor:
    """The equally likely atoms nearest to a distribution: its quantiles at the midpoints.

    Nearest in 1-Wasserstein distance, in ascending order. Shapes: ``positions [..., N], probabilities [..., N] -> [...,
    num_quantiles]``. Dabney et al. (2018), lemma 2.
    """
    order = ops.argsort(positions)
    # A midpoint may lie on a step of the distribution; the margin exceeds the rounding error of the sum.
    reached = ops.cumulative_sum(ops.take_along_axis(probabilities, order), axis=-1) + 1e-6
    below = ops.expand_dims(reached, -2) < ops.expand_dims(quantile_midpoints(ops, num_quantiles), -1)
    return ops.take_along_axis(ops.take_along_axis(positions, order), ops.count_nonzero(below, axis=-1))


def quantile_huber_loss(ops: Any, quantiles: Tensor, targets: Tensor, delta: float = 1.0) -> Tensor:
    """The asymmetric Huber loss of N quantiles against M equally likely targets.

    Summed over the quantiles, averaged over the targets: ``quantiles [..., N], targets [..., M] -> [...]``. Dabney et
    al. (2018), eq. 10 and Algorithm 1. With ``delta=0`` it is the loss of quantile regression, which is not smooth.
    """
    errors = ops.expand_dims(targets, -2) - ops.expand_dims(quantiles, -1)
    penalty = huber(ops, errors, delta) if delta else ops.abs(errors)
    midpoints = ops.expand_dims(quantile_midpoints(ops, quantiles.shape[-1]), -1)
    weights = ops.where(errors < 0.0, 1.0 - midpoints, midpoints)
    return ops.sum(ops.mean(weights * penalty, axis=-1), axis=-1)
