"""Native versions of shipped graph functions, by the key of the graph function they replace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor


def adam_apply(self: Any, ops: Any, variables: Sequence[Tensor], gradients: Sequence[Tensor]) -> None:
    """`Adam._apply` by torch's fused step: one pass over each flat block."""
    self.steps.detach().add_(1.0)
    if self.clip_grad_norm is not None:
        clip_(gradients, self.clip_grad_norm)
    torch._fused_adam_(  # type: ignore[attr-defined]
        variables,
        gradients,
        self.first_moments,
        self.second_moments,
        [],
        [self.steps] * len(variables),
        lr=self.learning_rate,
        beta1=self.beta1,
        beta2=self.beta2,
        weight_decay=0.0,
        eps=self.epsilon,
        amsgrad=False,
        maximize=False,
    )


def clip_(gradients: Sequence[Tensor], max_norm: float) -> None:
    """`functional.optimization.clip_by_global_norm` in place: the gradients belong to the step alone."""
    if len(gradients) == 1:
        norm = torch.linalg.vector_norm(gradients[0])
    else:
        norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g) for g in gradients]))
    scale = torch.clamp_max(max_norm / (norm + 1e-6), 1.0)
    for gradient in gradients:
        gradient.mul_(scale)


KERNELS: dict[str, Callable[..., Any]] = {}
if hasattr(torch, "_fused_adam_"):
    # Not a public name of torch: where it is missing, the single source computes the same.
    KERNELS["rlgraph.components.optimizers.adam:Adam._apply"] = adam_apply
