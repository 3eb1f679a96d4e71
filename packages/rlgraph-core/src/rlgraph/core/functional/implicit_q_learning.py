"""Implicit Q-learning: Kostrikov et al. (2022), https://arxiv.org/abs/2110.06169."""

from __future__ import annotations

import math
from typing import Any

Tensor = Any


def expectile_loss(ops: Any, errors: Tensor, expectile: float) -> Tensor:
    """``|expectile - 1(u < 0)| u^2`` of errors u: ``[...] -> [...]``. Kostrikov et al. (2022), eq. 4."""
    weights = expectile + (1.0 - 2.0 * expectile) * ops.astype(errors < 0.0, "float")
    return weights * ops.square(errors)


def advantage_weights(ops: Any, advantages: Tensor, inverse_temperature: float, limit: float) -> Tensor:
    """``min(exp(inverse_temperature * A), limit)``, without a gradient: ``[...] -> [...]``.

    Kostrikov et al. (2022), eq. 7; the limit is that of appendix B. Large advantages do not overflow.
    """
    exponents = ops.minimum(inverse_temperature * advantages, math.log(limit))
    return ops.stop_gradient(ops.exp(exponents))
