"""The Adadelta optimizer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.optimizers.optimizer import Optimizer
from rlgraph.core.functional.optimization import adadelta
from rlgraph.core.specs.spec_types import ScheduleSpec


class Adadelta(Optimizer):
    """Adadelta (Zeiler, 2012, Algorithm 1).

    Args:
        learning_rate: as in `Optimizer`; the paper has none, which equals 1.
        rho: decay rate of both means, in [0, 1).
        epsilon: added inside both roots.
        kwargs: limits on the gradients and `non_finite`, as in `Optimizer`.
    """

    def __init__(
        self,
        learning_rate: ScheduleSpec = 1.0,
        rho: float = 0.95,
        epsilon: float = 1e-6,
        scope: str = "optimizer",
        **kwargs: Any,
    ):
        self.rho = check_number(rho, f"{scope}.rho", least=0, below=1)
        self.epsilon = check_number(epsilon, f"{scope}.epsilon", least=0)
        super().__init__(learning_rate, scope=scope, **kwargs)

    def declare_slots(self) -> Mapping[str, float | None]:
        return {"mean_squares": 0.0, "mean_square_updates": 0.0}

    def rule(self, ops: Any, rate: Any, variable: Any, gradient: Any, *state: Any) -> tuple[Any, ...]:
        square, update = state
        return adadelta(ops, variable, gradient, square, update, rate, self.rho, self.epsilon)
