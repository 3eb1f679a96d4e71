"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.optimizers.optimizer import Optimizer
from rlgraph.core import SpecError
from rlgraph.core.functional.optimization import momentum_sgd, sgd
from rlgraph.core.specs.spec_types import ScheduleSpec


class SGD(Optimizer):
    """Stochastic gradient descent, optionally with momentum (Sutskever et al., 2013, as in `torch.optim.SGD`).

    Args:
        learning_rate: as in `Optimizer`.
        momentum: decay rate of the former steps, in [0, 1).
        nesterov: look ahead along the momentum; needs a momentum above 0.
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

    def declare_slots(self) -> Mapping[str, float | None]:
        return {"momentum_buffers": 0.0} if self.momentum else {}

    def rule(self, ops: Any, rate: Any, variable: Any, gradient: Any, *state: Any) -> tuple[Any, ...]:
        if not self.momentum:
            return (sgd(ops, variable, gradient, rate),)
        (buffer,) = state
        return momentum_sgd(ops, variable, gradient, buffer, rate, self.momentum, self.nesterov)
