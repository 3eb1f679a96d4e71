"""The dueling architecture."""

from __future__ import annotations

from typing import Any

Tensor = Any


def dueling_q_values(
    ops: Any, state_values: Tensor, advantages: Tensor, existing: Tensor | None = None, axis: int = -1
) -> Tensor:
    """``V + A - mean(A)``: ``state_values [B, 1], advantages [B, A] -> [B, A]``; actions are along `axis`.

    Wang et al. (2016), eq. 9, https://arxiv.org/abs/1511.06581. The mean is over the actions marked in `existing`
    (bool, with the axes of an item; default: all actions).
    """
    if existing is None:
        mean = ops.mean(advantages, axis=axis, keepdims=True)
    else:
        kept = ops.where(existing, advantages, ops.zeros_like(advantages))
        number = ops.sum(ops.astype(existing, "float"), axis=axis, keepdims=True)
        mean = ops.sum(kept, axis=axis, keepdims=True) / number
    return state_values + advantages - mean
