"""The Adam optimizer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.optimizers.optimizer import Optimizer
from rlgraph.core.functional.optimization import adam
from rlgraph.core.specs.spec_types import ScheduleSpec
from rlgraph.spaces import FloatBox


class Adam(Optimizer):
    """Adam (Kingma and Ba, 2015, Algorithm 1, as in `torch.optim.Adam`).

    Args:
        learning_rate: as in `Optimizer`.
        beta1, beta2: decay rates of the moments, in [0, 1).
        epsilon: added to the root of the corrected second moment.
        clip_grad_norm: as in `Optimizer`.
        kwargs: other limits on the gradients and `non_finite`, as in `Optimizer`.
    """

    def __init__(
        self,
        learning_rate: ScheduleSpec = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        clip_grad_norm: float | None = None,
        scope: str = "optimizer",
        **kwargs: Any,
    ):
        self.beta1 = check_number(beta1, f"{scope}.beta1", least=0, below=1)
        self.beta2 = check_number(beta2, f"{scope}.beta2", least=0, below=1)
        self.epsilon = check_number(epsilon, f"{scope}.epsilon", least=0)
        super().__init__(learning_rate, clip_grad_norm, scope=scope, **kwargs)

    def create_slots(self, variables: Any) -> None:
        self.steps = self.get_variable("steps", FloatBox(), trainable=False)
        super().create_slots(variables)

    def declare_slots(self) -> Mapping[str, float | None]:
        return {"first_moments": 0.0, "second_moments": 0.0}

    def advance(self, ops: Any, finite: Any) -> tuple[Any, ...]:
        step = ops.read(self.steps) + 1.0
        self.write(ops, finite, self.steps, step)
        return (step,)

    def rule(self, ops: Any, rate: Any, variable: Any, gradient: Any, *state: Any) -> tuple[Any, ...]:
        first, second, step = state
        constants = self.beta1, self.beta2, self.epsilon
        return adam(ops, variable, gradient, first, second, step, rate, *constants)
