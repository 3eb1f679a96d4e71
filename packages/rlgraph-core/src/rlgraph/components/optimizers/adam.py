"""The Adam optimizer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.optimizers.learning_rate import read_learning_rate
from rlgraph.core import AssemblyError, Component, SpecError, gradients, graph_fn, rlgraph_api
from rlgraph.core.functional.optimization import adam, clip_by_global_norm
from rlgraph.spaces import FloatBox, Space


class Adam(Component):
    """Adam (Kingma and Ba, 2015, Algorithm 1), with an optional limit on the global gradient norm.

    Args:
        learning_rate: step size; a number, or a schedule of one (see `Schedule.from_spec`): ``[1e-3, 1e-5]``. With a
            schedule, `step` needs the fraction of training that is done.
        beta1, beta2: decay rates of the moments.
        epsilon: added to the root of the second moment.
        clip_grad_norm: largest L2 norm of all gradients together; None for no limit.
        scope: name among its siblings.
    """

    def __init__(
        self,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        clip_grad_norm: float | None = None,
        scope: str = "optimizer",
        **kwargs: Any,
    ):
        if not isinstance(epsilon, int | float) or epsilon < 0:
            raise SpecError(f"{scope}.epsilon: expected a number >= 0, given {epsilon!r}")
        for name, value in (("beta1", beta1), ("beta2", beta2)):
            if not isinstance(value, int | float) or not 0 <= value < 1:
                raise SpecError(f"{scope}.{name}: expected a number in [0, 1), given {value!r}")
        if clip_grad_norm is not None and not (
            isinstance(clip_grad_norm, int | float) and clip_grad_norm > 0
        ):
            raise SpecError(
                f"{scope}.clip_grad_norm: expected a number > 0 or None, given {clip_grad_norm!r}"
            )
        self.learning_rate = read_learning_rate(learning_rate, f"{scope}.learning_rate")
        self.beta1, self.beta2, self.epsilon = float(beta1), float(beta2), float(epsilon)
        self.clip_grad_norm = clip_grad_norm
        super().__init__(scope=scope, **kwargs)

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        variables = input_spaces["variables"]
        self.steps = self.get_variable("steps", FloatBox(), trainable=False)
        self.first_moments = self.get_slots("first_moments", variables)
        self.second_moments = self.get_slots("second_moments", variables)

    @rlgraph_api
    def step(self, variables: Any, loss: Any, time_percentage: Any = None) -> Any:
        """One step on `variables` (of ``component.variables()``) down the gradient of the scalar `loss`.

        Args:
            variables: what to step.
            loss: a float without axes.
            time_percentage: the fraction of training done, []; only needed where the learning rate is a schedule.
        """
        derivatives = gradients(loss, variables)
        if self.learning_rate.is_constant:
            return self._apply(variables, derivatives)
        if time_percentage is None:
            raise AssemblyError(
                f"{self.scope_path}.step needs time_percentage, the fraction of training done: "
                f"the learning rate is {self.learning_rate}"
            )
        return self._apply(variables, derivatives, self._get_learning_rate(time_percentage))

    @graph_fn
    def _get_learning_rate(self, ops: Any, time_percentage: Any) -> Any:
        return self.learning_rate.tensor(ops, time_percentage)

    @graph_fn(returns=0)
    def _apply(self, ops: Any, variables: Any, gradients: Any, learning_rate: Any = None) -> None:
        if learning_rate is None:
            learning_rate = self.learning_rate.value(0.0)
        ops.assign_add(self.steps, 1.0)
        if self.clip_grad_norm is not None:
            gradients = clip_by_global_norm(ops, gradients, self.clip_grad_norm)
        moments = zip(self.first_moments, self.second_moments, strict=True)
        for variable, gradient, (first, second) in zip(variables, gradients, moments, strict=True):
            new_variable, new_first, new_second = adam(
                ops,
                variable,
                gradient,
                first,
                second,
                self.steps,
                learning_rate,
                self.beta1,
                self.beta2,
                self.epsilon,
            )
            ops.assign(first, new_first)
            ops.assign(second, new_second)
            ops.assign(variable, new_variable)
