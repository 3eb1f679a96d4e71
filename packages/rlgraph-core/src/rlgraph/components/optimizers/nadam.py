"""Adam with Nesterov momentum."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.optimizers.adam import Adam
from rlgraph.core.functional.optimization import nadam, nadam_momentum
from rlgraph.core.specs.spec_types import ScheduleSpec
from rlgraph.spaces import FloatBox


class Nadam(Adam):
    """Adam with Nesterov momentum (Dozat, 2016, Algorithm 2, as in `torch.optim.NAdam`).

    The momentum starts at half of `beta1` and rises to it: ``beta1 (1 - 0.5 * 0.96^(momentum_decay * step))``.

    Args:
        learning_rate: as in `Optimizer`.
        momentum_decay: how fast the momentum rises; 0.004 in the paper, 1 in Keras.
        kwargs: `beta1`, `beta2` and `epsilon` as in `Adam`; limits on the gradients and `non_finite` as in `Optimizer`.
    """

    def __init__(
        self,
        learning_rate: ScheduleSpec = 2e-3,
        momentum_decay: float = 4e-3,
        scope: str = "optimizer",
        **kwargs: Any,
    ):
        self.momentum_decay = check_number(momentum_decay, f"{scope}.momentum_decay", least=0)
        super().__init__(learning_rate, scope=scope, **kwargs)

    def create_slots(self, variables: Any) -> None:
        super().create_slots(variables)
        self.momentum_product = self.get_variable(
            "momentum_product", FloatBox(), initializer=1.0, trainable=False
        )

    def advance(self, ops: Any, finite: Any) -> tuple[Any, ...]:
        (step,) = super().advance(ops, finite)
        product = ops.read(self.momentum_product) * nadam_momentum(step, self.beta1, self.momentum_decay)
        self.write(ops, finite, self.momentum_product, product)
        return product, step

    def rule(self, ops: Any, rate: Any, variable: Any, gradient: Any, *state: Any) -> tuple[Any, ...]:
        first, second, product, step = state
        constants = self.beta1, self.beta2, self.epsilon, self.momentum_decay
        return nadam(ops, variable, gradient, first, second, product, step, rate, *constants)
