"""Adam with decoupled weight decay."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.optimizers.adam import Adam
from rlgraph.core.functional.optimization import adamw
from rlgraph.core.specs.spec_types import ScheduleSpec


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019, Algorithm 2, as in `torch.optim.AdamW`).

    All variables decay, biases too: each step reduces them by the share ``learning_rate * weight_decay``.

    Args:
        learning_rate: as in `Optimizer`.
        weight_decay: decay rate, at least 0.
        kwargs: `beta1`, `beta2` and `epsilon` as in `Adam`; limits on the gradients and `non_finite` as in `Optimizer`.
    """

    def __init__(
        self,
        learning_rate: ScheduleSpec = 1e-3,
        weight_decay: float = 1e-2,
        scope: str = "optimizer",
        **kwargs: Any,
    ):
        self.weight_decay = check_number(weight_decay, f"{scope}.weight_decay", least=0)
        super().__init__(learning_rate, scope=scope, **kwargs)

    def rule(self, ops: Any, rate: Any, variable: Any, gradient: Any, *state: Any) -> tuple[Any, ...]:
        first, second, step = state
        constants = self.beta1, self.beta2, self.epsilon, self.weight_decay
        return adamw(ops, variable, gradient, first, second, step, rate, *constants)
