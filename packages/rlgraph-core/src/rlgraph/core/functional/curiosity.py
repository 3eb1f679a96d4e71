"""Intrinsic rewards. Items have any number of axes, ``[...]``: ``[B]``, ``[T, B]``."""

from __future__ import annotations

from typing import Any

Tensor = Any


def prediction_error(ops: Any, predictions: Tensor, features: Tensor) -> Tensor:
    """``1/2 |predictions - features|^2``: ``[..., N], [..., N] -> [...]``.

    The loss of the forward model of Pathak et al. (2017), eq. 5, https://arxiv.org/abs/1705.05363; eta times it is the
    intrinsic reward (eq. 6).
    """
    return 0.5 * ops.sum(ops.square(predictions - features), axis=-1)


def inverse_and_forward_loss(ops: Any, inverse: Tensor, forward: Tensor, beta: float) -> Tensor:
    """``(1 - beta) inverse + beta forward``: ``[...], [...] -> [...]``.

    Pathak et al. (2017), eq. 7, https://arxiv.org/abs/1705.05363, without the loss of the policy. `beta`, in [0, 1],
    weighs the forward model against the inverse model.
    """
    return (1.0 - beta) * inverse + beta * forward


def distillation_error(ops: Any, predictions: Tensor, features: Tensor) -> Tensor:
    """The mean of ``(predictions - features)^2`` over the features: ``[..., N], [..., N] -> [...]``.

    The loss and the intrinsic reward of Burda et al. (2018), section 2.2, https://arxiv.org/abs/1810.12894; the mean in
    place of the sum is that of the authors' code.
    """
    return ops.mean(ops.square(predictions - features), axis=-1)
