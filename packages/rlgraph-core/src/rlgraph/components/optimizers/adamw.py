"""Adam with decoupled weight decay."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.optimizers.adam import Adam
from rlgraph.core import graph_fn
from rlgraph.core.functional.optimization import adamw
from rlgraph.core.specs.spec_types import ScheduleSpec


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019, Algorithm 2, as in `torch.optim.AdamW`).

    All variables decay, biases too: each step reduces them by the share ``learning_rate * weight_decay``.

    Args:
        learning_rate: as in `Optimizer`.
        weight_decay: decay rate, at least 0.
        scope: name among its siblings.
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

    @graph_fn(returns=0)
    def _apply(
        self, ops: Any, variables: Any, gradients: Any, learning_rate: Any = None, finite: Any = None
    ) -> None:
        gradients, rate = self.prepared(ops, variables, gradients, learning_rate)
        step = ops.read(self.steps) + 1.0
        self.write(ops, finite, self.steps, step)
        moments = zip(self.first_moments, self.second_moments, strict=True)
        for variable, gradient, (first, second) in zip(variables, gradients, moments, strict=True):
            new_variable, new_first, new_second = adamw(
                ops,
                variable,
                gradient,
                first,
                second,
                step,
                rate,
                self.beta1,
                self.beta2,
                self.epsilon,
                self.weight_decay,
            )
            self.write(ops, finite, first, new_first)
            self.write(ops, finite, second, new_second)
            self.write(ops, finite, variable, new_variable)
