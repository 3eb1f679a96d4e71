"""The Adagrad optimizer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.optimizers.optimizer import Optimizer
from rlgraph.core.functional.optimization import adagrad
from rlgraph.core.specs.spec_types import ScheduleSpec


class Adagrad(Optimizer):
    """Adagrad (Duchi et al., 2011, Figure 1 with a diagonal, as in `torch.optim.Adagrad`).

    Args:
        learning_rate: as in `Optimizer`.
        initial_accumulator_value: initial sums of squares; 0 in the paper, 0.1 in RLgraph 0.5 and Keras.
        epsilon: added to the root of the sum of squares.
        kwargs: limits on the gradients and `non_finite`, as in `Optimizer`.
    """

    def __init__(
        self,
        learning_rate: ScheduleSpec = 1e-2,
        initial_accumulator_value: float = 0.0,
        epsilon: float = 1e-10,
        scope: str = "optimizer",
        **kwargs: Any,
    ):
        self.initial_accumulator_value = check_number(
            initial_accumulator_value, f"{scope}.initial_accumulator_value", least=0
        )
        self.epsilon = check_number(epsilon, f"{scope}.epsilon", least=0)
        super().__init__(learning_rate, scope=scope, **kwargs)

    def declare_slots(self) -> Mapping[str, float | None]:
        return {"accumulators": self.initial_accumulator_value}

    def rule(self, ops: Any, rate: Any, variable: Any, gradient: Any, *state: Any) -> tuple[Any, ...]:
        (accumulator,) = state
        return adagrad(ops, variable, gradient, accumulator, rate, self.epsilon)
