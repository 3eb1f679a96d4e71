"""The RMSProp optimizer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.optimizers.optimizer import Optimizer
from rlgraph.core.functional.optimization import rmsprop
from rlgraph.core.specs.spec_types import ScheduleSpec


class RMSProp(Optimizer):
    """RMSProp (Tieleman and Hinton, 2012, as in `torch.optim.RMSprop`); centered as in Graves (2013).

    Args:
        learning_rate: as in `Optimizer`.
        decay: decay rate of the means, in [0, 1).
        epsilon: added to the root of the mean square.
        momentum: decay rate of the former steps, in [0, 1).
        centered: divide by the standard deviation of the gradient instead of its root mean square.
        epsilon_inside_root: add `epsilon` inside the root, as TensorFlow and so A3C, IMPALA and RLgraph 0.5 do. It
            matters if `epsilon` is large: with their 0.1 the divisor is at least 0.32.
        kwargs: limits on the gradients and `non_finite`, as in `Optimizer`.
    """

    def __init__(
        self,
        learning_rate: ScheduleSpec = 1e-2,
        decay: float = 0.99,
        epsilon: float = 1e-8,
        momentum: float = 0.0,
        centered: bool = False,
        epsilon_inside_root: bool = False,
        scope: str = "optimizer",
        **kwargs: Any,
    ):
        self.decay = check_number(decay, f"{scope}.decay", least=0, below=1)
        self.epsilon = check_number(epsilon, f"{scope}.epsilon", least=0)
        self.momentum = check_number(momentum, f"{scope}.momentum", least=0, below=1)
        self.centered, self.epsilon_inside_root = centered, epsilon_inside_root
        super().__init__(learning_rate, scope=scope, **kwargs)

    def declare_slots(self) -> Mapping[str, float | None]:
        return {
            "mean_squares": 0.0,
            "means": 0.0 if self.centered else None,
            "momentum_buffers": 0.0 if self.momentum else None,
        }

    def rule(self, ops: Any, rate: Any, variable: Any, gradient: Any, *state: Any) -> tuple[Any, ...]:
        square, mean, buffer = state
        constants = self.decay, self.epsilon, self.momentum, self.epsilon_inside_root
        return rmsprop(ops, variable, gradient, square, mean, buffer, rate, *constants)
