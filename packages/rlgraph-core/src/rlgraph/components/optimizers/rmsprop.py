"""The RMSProp optimizer."""

from __future__ import annotations

from itertools import repeat
from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.optimizers.optimizer import Optimizer
from rlgraph.core import graph_fn
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
        scope: name among its siblings.
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

    def create_slots(self, variables: Any) -> None:
        self.mean_squares = self.get_slots("mean_squares", variables)
        self.means = self.get_slots("means", variables) if self.centered else None
        self.momentum_buffers = self.get_slots("momentum_buffers", variables) if self.momentum else None

    @graph_fn(returns=0)
    def _apply(
        self, ops: Any, variables: Any, gradients: Any, learning_rate: Any = None, finite: Any = None
    ) -> None:
        gradients, rate = self.prepared(ops, variables, gradients, learning_rate)
        slots = zip(
            self.mean_squares,
            repeat(None) if self.means is None else self.means,
            repeat(None) if self.momentum_buffers is None else self.momentum_buffers,
            strict=False,
        )
        for variable, gradient, (square, mean, buffer) in zip(variables, gradients, slots, strict=True):
            new_variable, new_square, new_mean, new_buffer = rmsprop(
                ops,
                variable,
                gradient,
                square,
                mean,
                buffer,
                rate,
                self.decay,
                self.epsilon,
                self.momentum,
                self.epsilon_inside_root,
            )
            self.write(ops, finite, square, new_square)
            if mean is not None:
                self.write(ops, finite, mean, new_mean)
            if buffer is not None:
                self.write(ops, finite, buffer, new_buffer)
            self.write(ops, finite, variable, new_variable)
