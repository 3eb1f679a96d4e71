"""Rescaling of rewards to a common scale."""

from __future__ import annotations

from typing import Any

Tensor = Any


def soft_asymmetric(ops: Any, rewards: Tensor) -> Tensor:
    """``5 tanh(r / 5)``, and 0.3 of that where r is negative: ``[...] -> [...]``.

    As in the code of the authors of IMPALA, https://github.com/google-deepmind/scalable_agent; similar to
    the "optimistic asymmetric clipping" of Espeholt et al. (2018), https://arxiv.org/abs/1802.01561.
    """
    squeezed = 5.0 * ops.tanh(rewards / 5.0)
    return ops.where(rewards < 0.0, 0.3 * squeezed, squeezed)
