"""Kernels of distributions over single categories and single bools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, log_softmax, where

from rlgraph.core.functional.distributions.categorical import IMPOSSIBLE

#: The function inside `torch.nn.functional`, without its shape checks.
nll_loss: Any = torch._C._nn.nll_loss_nd
log_sigmoid: Any = torch.nn.functional.logsigmoid

#: `nll_loss` ignores items of this category, which is far above any real one.
NO_CATEGORY = 2**62


def categorical_log_probabilities(self: Any, ops: Any) -> Callable[[Tensor], Tensor]:
    """`Categorical._log_probabilities`."""

    def log_probabilities(parameters: Tensor) -> Tensor:
        return log_softmax(parameters, -1).clamp_min(IMPOSSIBLE)

    return log_probabilities


def categorical_log_prob(self: Any, ops: Any) -> Callable[[Any, Tensor, Tensor], Tensor] | None:
    """`Categorical._log_prob` of single categories from 0 on.

    The negative log-likelihood selects from a matrix in one call, and refuses invalid categories.
    """
    if self.own_axes or not self.starts_at_zero:
        return None

    def log_prob(space: Any, log_p: Tensor, values: Tensor) -> Tensor:
        if values.dtype is not torch.int64:
            values = values.long()
        if log_p.dim() == 2:
            picked: Tensor = nll_loss(log_p, values, None, 0, NO_CATEGORY).neg_()
            return picked
        return torch.gather(log_p, -1, values.unsqueeze(-1)).squeeze(-1)

    return log_prob


def categorical_entropy(self: Any, ops: Any) -> Callable[[Tensor], Tensor] | None:
    """`Categorical._entropy` of single categories."""
    if self.own_axes:
        return None

    def entropy(log_p: Tensor) -> Tensor:
        return torch.sum(torch.exp(log_p) * log_p, -1).neg_()

    return entropy


def bernoulli_log_prob(self: Any, ops: Any) -> Callable[[Any, Tensor, Tensor], Tensor] | None:
    """`Bernoulli._log_prob` of single bools."""
    if self.own_axes:
        return None

    def log_prob(space: Any, logits: Tensor, values: Tensor) -> Tensor:
        bools = values if values.dtype is torch.bool else values.bool()
        signed: Tensor = log_sigmoid(where(bools, logits, -logits))
        return signed

    return log_prob
