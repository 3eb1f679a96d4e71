"""The dueling architecture."""

from __future__ import annotations

from typing import Any

Tensor = Any


def dueling_q_values(ops: Any, state_values: Tensor, advantages: Tensor) -> Tensor:
    """``V + A - mean(A)``: ``state_values [B, 1], advantages [B, A] -> [B, A]``.

    Wang et al. (2016), eq. 9, https://arxiv.org/abs/1511.06581.
    """
    return state_values + advantages - ops.mean(advantages, axis=-1, keepdims=True)
