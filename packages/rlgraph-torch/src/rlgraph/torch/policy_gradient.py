"""Kernels of policy-gradient losses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor

from rlgraph.core.functional.off_policy import MAX_LOG_RATIO

mse_loss: Any = torch._C._nn.mse_loss


def ppo_pg_loss(self: Any, ops: Any) -> Callable[..., Tensor]:
    """`PPOLoss._pg_loss` of items without time, one log-probability each, and constant limits.

    With the sign s of the advantage A, ``min(r A, clip(r, 1 - c, 1 + c) A) = |A| min(s r, s + c)``: the ratio is
    limited from above where A is positive and from below where it is negative. Fewer derivatives.
    """
    general = partial(type(self).graph_function("_pg_loss").function, self, ops)
    if self.time_axis is not None or not (self.clip_ratio.is_constant and self.weight_entropy.is_constant):
        return general
    clip_ratio, weight = self.clip_ratio.value(0.0), self.weight_entropy.value(0.0)
    standardizes = self.standardize_advantages

    def pg_loss(
        log_probs: Mapping[str, Tensor],
        prev_log_probs: Mapping[str, Tensor],
        advantages: Tensor,
        entropy: Mapping[str, Tensor] | None = None,
        **more: Any,
    ) -> Tensor:
        new, old = log_probs.get(""), prev_log_probs.get("")
        if new is None or old is None or new.dim() != 1 or more:
            return general(log_probs, prev_log_probs, advantages, entropy, **more)
        advantages = advantages.detach()
        if standardizes:
            deviation, mean = torch.std_mean(advantages, correction=0)
            advantages = (advantages - mean).div_(deviation.add_(1e-8))
        signs = torch.sign(advantages)
        ratios = torch.exp(torch.clamp_max(new - old.detach(), MAX_LOG_RATIO))
        limited = torch.minimum(ratios * signs, signs + clip_ratio)
        losses = limited * torch.abs(advantages).neg_()
        if weight == 0.0 or entropy is None:
            return losses
        return torch.sub(losses, entropy[""], alpha=weight)

    return pg_loss


def ppo_value_loss(self: Any, ops: Any) -> Callable[..., Tensor]:
    """`PPOLoss._value_loss` of items without time and without value clipping."""
    general = partial(type(self).graph_function("_value_loss").function, self, ops)
    if self.time_axis is not None or self.value_function_clipping is not None:
        return general

    def value_loss(
        state_values: Tensor, prev_state_values: Tensor, advantages: Tensor, **more: Any
    ) -> Tensor:
        if more:
            return general(state_values, prev_state_values, advantages, **more)
        loss: Tensor = mse_loss(state_values, (prev_state_values + advantages).detach(), 0)
        return loss

    return value_loss


def ppo_sum(self: Any, ops: Any) -> Callable[..., Tensor] | None:
    """`PPOLoss._sum` with a constant weight."""
    if not self.weight_vf.is_constant:
        return None
    weight = self.weight_vf.value(0.0)

    def weighted(
        pg_loss: Tensor, value_function_loss: Tensor, time_percentage: Tensor | None = None
    ) -> Tensor:
        return torch.add(pg_loss, value_function_loss, alpha=weight)

    return weighted
