"""Kernels of policy-gradient losses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rlgraph.components.common.schedules import Constant
from rlgraph.core.functional.off_policy import MAX_LOG_RATIO

mse_loss: Any = torch._C._nn.mse_loss


def ppo_policy_loss(self: Any, ops: Any) -> Callable[..., Tensor]:
    """`PPOLoss._policy_loss` with one log-probability per item and a constant limit.

    With the sign s of the advantage A, ``min(r A, clip(r, 1 - c, 1 + c) A) = |A| min(s r, s + c)``: the ratio is
    limited from above where A is positive and from below where it is negative. Fewer derivatives.
    """
    general = partial(type(self).graph_function("_policy_loss").function, self, ops)
    if not self.clip_ratio.is_constant:
        return general
    clip_ratio = self.clip_ratio.value(0.0)

    def policy_loss(
        log_probs: Mapping[str, Tensor],
        prev_log_probs: Mapping[str, Tensor],
        advantages: Tensor,
        progress: Tensor | None = None,
    ) -> Tensor:
        new, old = log_probs.get(""), prev_log_probs.get("")
        if new is None or old is None or new.dim() != advantages.dim():
            return general(log_probs, prev_log_probs, advantages)
        advantages = advantages.detach()
        signs = torch.sign(advantages)
        ratios = torch.exp(torch.clamp_max(new - old.detach(), MAX_LOG_RATIO))
        limited = torch.minimum(ratios * signs, signs + clip_ratio)
        return limited * torch.abs(advantages).neg_()

    return policy_loss


def ppo_value_loss(self: Any, ops: Any) -> Callable[..., Tensor] | None:
    """`PPOLoss._value_loss` without value clipping."""
    if self.value_function_clipping is not None:
        return None

    def value_loss(
        state_values: Tensor, prev_state_values: Tensor, advantages: Tensor, progress: Tensor | None = None
    ) -> Tensor:
        loss: Tensor = mse_loss(state_values, (prev_state_values + advantages).detach(), 0)
        return loss

    return value_loss


def loss_average(self: Any, ops: Any) -> Callable[..., Tensor] | None:
    """`LossFunction._average` of items without time."""
    if self.time_axis is not None:
        return None
    general = partial(type(self).graph_function("_average").function, self, ops)

    def average(loss_per_item: Tensor, weights: Tensor | None = None) -> Tensor:
        if weights is None:
            return torch.mean(loss_per_item)
        if loss_per_item.dim() != 1 or weights.dtype != loss_per_item.dtype:
            return general(loss_per_item, weights)
        items = items_of(weights)
        return torch.dot(items.without_garbage(loss_per_item), weights) / items.number

    return average


def loss_measure(self: Any, ops: Any) -> Callable[..., Tensor]:
    """`LossFunction._measure`."""

    def measure(per_item: Tensor, weights: Tensor | None = None) -> Tensor:
        if weights is None:
            return torch.mean(per_item)
        items = items_of(weights)
        return torch.sum(items.without_garbage(per_item)) / items.number

    return measure


def loss_own_sum(self: Any, ops: Any) -> Callable[..., Tensor] | None:
    """`LossFunction._own_sum` of items without time."""
    if self.time_axis is not None:
        return None
    general = partial(type(self).graph_function("_own_sum").function, self, ops)

    def own_sum(per_item: Tensor, weights: Tensor | None = None, measured: bool = False) -> Tensor:
        if weights is None:
            return torch.sum(per_item)
        if per_item.dim() != 1 or weights.dtype != per_item.dtype:
            return general(per_item, weights, measured)
        per_item = items_of(weights).without_garbage(per_item)
        return torch.sum(per_item) if measured else torch.dot(per_item, weights)

    return own_sum


def loss_own_number(self: Any, ops: Any) -> Callable[..., Tensor] | None:
    """`LossFunction._own_number` of weighted items without time."""
    if self.time_axis is not None:
        return None
    general = partial(type(self).graph_function("_own_number").function, self, ops)

    def own_number(items: Tensor, weighted: bool, as_steps: bool) -> Tensor:
        if weighted and items.is_floating_point():
            return items_of(items).counted
        return general(items, weighted, as_steps)

    return own_number


def loss_without_garbage(self: Any, ops: Any) -> Callable[[Tensor, Tensor], Tensor]:
    """`LossFunction._without_garbage`."""

    def without_garbage(values: Tensor, weights: Tensor) -> Tensor:
        more = values.dim() - weights.dim()
        garbage = items_of(weights).garbage
        if garbage is None or more < 0:
            return values
        return values.masked_fill(garbage if more == 0 else garbage[(..., *[None] * more)], 0)

    return without_garbage


def standardize_sum(self: Any, ops: Any) -> Callable[..., tuple[Tensor, Tensor]]:
    """`Standardize._sum`."""
    numbers: dict[int, Tensor] = {}  # a batch has few sizes

    def total(values: Tensor, weights: Tensor | None = None) -> tuple[Tensor, Tensor]:
        if weights is not None:
            items = items_of(weights)
            return torch.sum(items.without_garbage(values)), items.number
        size = values.numel()
        if size not in numbers:
            numbers[size] = torch.full((), size, dtype=values.dtype, device=values.device)
        return torch.sum(values), numbers[size]

    return total


def standardize_centered(self: Any, ops: Any) -> Callable[..., tuple[Tensor, Tensor]]:
    """`Standardize._centered` of items without time."""
    general = partial(type(self).graph_function("_centered").function, self, ops)

    def centered(
        values: Tensor,
        total: Tensor,
        number: Tensor,
        weights: Tensor | None = None,
        by_column: bool | None = None,
    ) -> tuple[Tensor, Tensor]:
        if values.dim() != 1:
            return general(values, total, number, weights, by_column)
        differences = torch.addcdiv(values, total, number, value=-1)
        if weights is not None:
            differences = items_of(weights).without_garbage(differences)
        return differences, torch.dot(differences, differences)

    return centered


@dataclass(frozen=True)
class Items:
    """The items of a batch that count.

    Attributes:
        garbage: which weights leave out; None: none, as far as is known.
        counted: how many count.
        number: how many count, at least 1.
    """

    garbage: Tensor | None
    counted: Tensor
    number: Tensor

    def without_garbage(self, values: Tensor) -> Tensor:
        return values if self.garbage is None else values.masked_fill(self.garbage, 0.0)


class _ItemsOf:
    """The items that weights let count.

    A batch's weights go to many graph functions, so the last answer is kept. On a device the weights are not read,
    which would wait for it.
    """

    def __init__(self) -> None:
        self._last: tuple[Tensor | None, int, Items] = (None, 0, Items(None, torch.ones(()), torch.ones(())))

    def __call__(self, weights: Tensor) -> Items:
        last, version, items = self._last
        if weights is not last or weights._version != version:
            items = _look(weights)
            self._last = weights, weights._version, items
        return items


def _look(weights: Tensor) -> Items:
    dtype = weights.dtype if weights.is_floating_point() else torch.float32
    if weights.device.type != "cpu":
        garbage = weights == 0
        counted = weights.numel() - torch.sum(garbage)
        return Items(garbage, counted.to(dtype), torch.clamp_min(counted, 1).to(dtype))
    values = weights.numpy()
    count = int(np.count_nonzero(values))
    counted = torch.scalar_tensor(count, dtype=dtype)
    number = counted if count else torch.ones((), dtype=dtype)
    return Items(None if count == values.size else torch.from_numpy(values == 0), counted, number)


items_of = _ItemsOf()


def standardize_scaled(self: Any, ops: Any) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """`Standardize._scaled`."""
    epsilon = self.epsilon

    def scaled(centered: Tensor, squares: Tensor, number: Tensor) -> Tensor:
        return centered / torch.add(torch.sqrt(squares / number), epsilon)

    return scaled


def policy_gradient_total(self: Any, ops: Any) -> Callable[..., Tensor] | None:
    """`PolicyGradientLoss._total` with constant weights, that of the policy's loss being 1."""
    if not (
        self.weight_pg == Constant(1.0) and self.weight_vf.is_constant and self.weight_entropy.is_constant
    ):
        return None
    weight_vf, weight_entropy = self.weight_vf.value(0.0), self.weight_entropy.value(0.0)

    def total(
        policy_loss: Tensor, value_loss: Tensor, entropy: Tensor | None = None, progress: Tensor | None = None
    ) -> Tensor:
        losses = torch.add(policy_loss, value_loss, alpha=weight_vf)
        return losses if entropy is None else torch.sub(losses, entropy, alpha=weight_entropy)

    return total
