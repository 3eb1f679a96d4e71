"""The Adadelta optimizer."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.optimizers.optimizer import Optimizer
from rlgraph.core import graph_fn
from rlgraph.core.functional.optimization import adadelta
from rlgraph.core.specs.spec_types import ScheduleSpec


class Adadelta(Optimizer):
    """Adadelta (Zeiler, 2012, Algorithm 1).

    Args:
        learning_rate: as in `Optimizer`; the paper has none, which equals 1.
        rho: decay rate of both means, in [0, 1).
        epsilon: added inside both roots.
        scope: name among its siblings.
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

    def create_slots(self, variables: Any) -> None:
        self.mean_squares = self.get_slots("mean_squares", variables)
        self.mean_square_updates = self.get_slots("mean_square_updates", variables)

    @graph_fn(returns=0)
    def _apply(
        self, ops: Any, variables: Any, gradients: Any, learning_rate: Any = None, finite: Any = None
    ) -> None:
        gradients, rate = self.prepared(ops, variables, gradients, learning_rate)
        means = zip(self.mean_squares, self.mean_square_updates, strict=True)
        for variable, gradient, (square, update) in zip(variables, gradients, means, strict=True):
            new_variable, new_square, new_update = adadelta(
                ops, variable, gradient, square, update, rate, self.rho, self.epsilon
            )
            self.write(ops, finite, square, new_square)
            self.write(ops, finite, update, new_update)
            self.write(ops, finite, variable, new_variable)
