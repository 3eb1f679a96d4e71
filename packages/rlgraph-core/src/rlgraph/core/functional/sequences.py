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
