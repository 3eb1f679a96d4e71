"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.optimizers.optimizer import Optimizer
from rlgraph.core import SpecError, graph_fn
from rlgraph.core.functional.optimization import momentum_sgd, sgd
from rlgraph.core.specs.spec_types import ScheduleSpec


class SGD(Optimizer):
    """Stochastic gradient descent, optionally with momentum (Sutskever et al., 2013, as in `torch.optim.SGD`).

    Args:
        learning_rate: as in `Optimizer`.
        momentum: decay rate of the former steps, in [0, 1).
        nesterov: look ahead along the momentum; needs a momentum above 0.
        scope: name among its siblings.
        kwargs: limits on the gradients and `non_finite`, as in `Optimizer`.
    """

    def __init__(
        self,
        learning_rate: ScheduleSpec = 1e-2,
        momentum: float = 0.0,
        nesterov: bool = False,
        scope: str = "optimizer",
        **kwargs: Any,
    ):
        self.momentum = check_number(momentum, f"{scope}.momentum", least=0, below=1)
        self.nesterov = nesterov
        if nesterov and not self.momentum:
            raise SpecError(f"expected a momentum above 0, given {momentum!r}", path=f"{scope}.nesterov")
        super().__init__(learning_rate, scope=scope, **kwargs)

    def create_slots(self, variables: Any) -> None:
        if self.momentum:
            self.momentum_buffers = self.get_slots("momentum_buffers", variables)

    @graph_fn(returns=0)
    def _apply(
        self, ops: Any, variables: Any, gradients: Any, learning_rate: Any = None, finite: Any = None
    ) -> None:
        gradients, rate = self.prepared(ops, variables, gradients, learning_rate)
        if not self.momentum:
            for variable, gradient in zip(variables, gradients, strict=True):
                self.write(ops, finite, variable, sgd(ops, variable, gradient, rate))
            return
        for variable, gradient, buffer in zip(variables, gradients, self.momentum_buffers, strict=True):
            new_variable, new_buffer = momentum_sgd(
                ops, variable, gradient, buffer, rate, self.momentum, self.nesterov
            )
            self.write(ops, finite, buffer, new_buffer)
            self.write(ops, finite, variable, new_variable)
