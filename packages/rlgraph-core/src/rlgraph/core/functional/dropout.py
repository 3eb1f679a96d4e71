"""Dropout."""

from __future__ import annotations

from typing import Any

Tensor = Any


def dropout(ops: Any, x: Tensor, uniform: Tensor, rate: float) -> Tensor:
    """``x / (1 - rate)`` where ``uniform >= rate``, else 0; this keeps the expectation.

    ``x`` and ``uniform`` (draws between 0 and 1) have the same shape. Srivastava et al. (2014),
    https://jmlr.org/papers/v15/srivastava14a.html, scaled in training as in section 10.
    """
    return ops.where(uniform >= rate, x * (1.0 / (1.0 - rate)), 0.0)
