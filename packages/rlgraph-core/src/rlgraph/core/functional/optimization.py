"""Gradient-based optimization."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Tensor = Any


def clip_by_global_norm(ops: Any, gradients: Sequence[Tensor], max_norm: float) -> list[Tensor]:
    """Scale all gradients by ``min(1, max_norm / norm)``, norm being the L2 norm of all of them together.

    Pascanu et al. (2013), Algorithm 1, https://arxiv.org/abs/1211.5063; with torch's 1e-6 against division by zero.
    """
    total = ops.sum(ops.square(gradients[0]))
    for gradient in gradients[1:]:
        total = total + ops.sum(ops.square(gradient))
    scale = ops.minimum(max_norm / (ops.sqrt(total) + 1e-6), 1.0)
    return [gradient * scale for gradient in gradients]


def adam(
    ops: Any,
    variable: Tensor,
    gradient: Tensor,
    first_moment: Tensor,
    second_moment: Tensor,
    step: Tensor,
    learning_rate: Any,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """One Adam step: the new (variable, first moment, second moment). `step` counts from 1.

    Kingma and Ba (2015), Algorithm 1, https://arxiv.org/abs/1412.6980 (epsilon outside the bias-corrected root).
    """
    first_moment = beta1 * first_moment + (1.0 - beta1) * gradient
    second_moment = beta2 * second_moment + (1.0 - beta2) * ops.square(gradient)
    corrected_first = first_moment / (1.0 - beta1**step)
    corrected_second = second_moment / (1.0 - beta2**step)
    update = learning_rate * corrected_first / (ops.sqrt(corrected_second) + epsilon)
    return variable - update, first_moment, second_moment
