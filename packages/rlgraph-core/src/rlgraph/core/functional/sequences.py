"""Concatenated or batched sequences, with time along the first axis.

Rows are steps: ``[N]``, sequence after sequence, or ``[T, B]``, B of them side by side. ``ends`` is true at the last
step of each sequence; the last row needs no mark.
"""

from __future__ import annotations

from typing import Any

Tensor = Any


def sequence_lengths(ops: Any, ends: Tensor) -> Tensor:
    """The length of each sequence: ``ends [N] (bool) -> [S] (int64)``."""
    last_or_end = ~ops.pad(~ends[:-1], ((0, 1),))
    counts = ops.boolean_mask(1 + ops.arange(ops.shape(ends)[0]), last_or_end)
    return counts - ops.pad(counts[:-1], ((1, 0),))


def sequence_decays(ops: Any, ends: Tensor, decay: Any) -> Tensor:
    """``decay ** k`` at the k-th step of a sequence (from 0): ``ends [T, ...] (bool) -> [T, ...]``."""
    goes_on = ops.pad(~ends[:-1], ((1, 0), *((0, 0),) * (len(ends.shape) - 1)))
    zeros = ops.zeros(ops.shape(ends))
    return ops.linear_recurrence(ops.where(goes_on, zeros, 1.0), ops.where(goes_on, decay, zeros))


def decayed_sums(ops: Any, values: Tensor, ends: Tensor, decay: Any) -> Tensor:
    """``y_t = x_t + decay_t * y_{t+1}`` within each sequence: the decayed sum of this and all later steps.

    Shapes: ``values [T, ...], ends [T, ...] (bool), decay`` a number or ``[T, ...] -> [T, ...]``.
    """
    return ops.linear_recurrence(values, ops.where(ends, ops.zeros_like(values), decay), reverse=True)


def parts_side_by_side(ops: Any, steps: Tensor, number: int = -1, length: int = -1) -> Tensor:
    """Cut sequences into C parts of L steps: ``steps [T, B, ...] -> [L, C * B, ...]``.

    Column ``c * B + b`` is part c of sequence b. Either `number`, C, or `length`, L, is given; it divides T.
    """
    parts = ops.moveaxis(ops.reshape(steps, (number, length, *ops.shape(steps)[1:])), 0, 1)
    return ops.reshape(parts, (ops.shape(parts)[0], -1, *parts.shape[3:]))


def parts_in_a_row(ops: Any, parts: Tensor, number: int, steps: int) -> Tensor:
    """The inverse of `parts_side_by_side`: ``parts [L, C * B, ...] -> [T, B, ...]``, from C and T."""
    rows = ops.moveaxis(ops.reshape(parts, (ops.shape(parts)[0], number, -1, *parts.shape[2:])), 1, 0)
    return ops.reshape(rows, (steps, *ops.shape(rows)[2:]))


def values_of_next_states(
    ops: Any, values: Tensor, bootstrap_values: Tensor, ends: Tensor | None = None
) -> Tensor:
    """``V(s_{t+1})`` of every step, from ``V(s_t)``: ``values [T, ...] -> [T, ...]``.

    Args:
        ops: the operations.
        values: values of the states in which the actions were taken ``[T, ...]``.
        bootstrap_values: values of the states after the sequences: after the last step, ``[...]``; or of the state
            after each step, ``[T, ...]``, of which only those at the ends of sequences are used.
        ends: last steps of sequences ``[T, ...]`` (bool). If any row but the last is marked, `bootstrap_values`
            must be ``[T, ...]``.
    """
    per_step = len(bootstrap_values.shape) == len(values.shape)
    last = bootstrap_values[-1] if per_step else bootstrap_values
    following = ops.concat([values[1:], last[None]], axis=0)
    return following if ends is None else ops.where(ends, bootstrap_values, following)


def n_step_rewards(
    ops: Any, rewards: Tensor, valid: Tensor, n_step: int, discount: float
) -> tuple[Tensor, Tensor, Tensor]:
    """``r_t + g r_t+1 + .. + g^(k-1) r_t+k-1``, ``g^k`` and the row ``t + k - 1``, each ``[T, B]``.

    k is `n_step`, or smaller where the sequence ends earlier (Sutton and Barto, 2018, section 7.1).

    Args:
        ops: the operations.
        rewards: of the steps, ``[T, B]``.
        valid: the steps of each sequence, which come before its padding, ``[T, B]`` (bool). Padding has the sum 0 and
            the factor 1.
        n_step: the largest k, at most T.
        discount: g.
    """
    sums, factors = ops.zeros_like(rewards), ops.ones_like(rewards)
    rows = ops.expand_dims(ops.arange(ops.shape(rewards)[0]), 1)
    lasts = ops.broadcast_to(rows, ops.shape(rewards))
    for k in range(n_step):
        inside = ops.pad(valid[k:], ((0, k), (0, 0))) if k else valid
        later = ops.pad(rewards[k:], ((0, k), (0, 0))) if k else rewards
        sums = sums + ops.where(inside, factors * later, ops.zeros_like(sums))
        factors = ops.where(inside, discount * factors, factors)
        if k:
            lasts = lasts + ops.astype(inside, "int64")
    return sums, factors, lasts


def sequence_priorities(ops: Any, errors: Tensor, valid: Tensor, eta: float) -> Tensor:
    """``eta * max |error| + (1 - eta) * mean |error|`` over the steps of each sequence: ``[T, B] -> [B]``.

    Kapturowski et al. (2019), section 2.3, https://openreview.net/forum?id=r1lyTjAqYX.

    Args:
        ops: the operations.
        errors: of the steps, ``[T, B]``.
        valid: the steps of each sequence, ``[T, B]`` (bool); padding does not count.
        eta: in [0, 1].
    """
    sizes = ops.where(valid, ops.abs(errors), ops.zeros_like(errors))
    counts = ops.maximum(ops.sum(ops.astype(valid, "float"), axis=0), 1.0)
    return eta * ops.max(sizes, axis=0) + (1.0 - eta) * ops.sum(sizes, axis=0) / counts
