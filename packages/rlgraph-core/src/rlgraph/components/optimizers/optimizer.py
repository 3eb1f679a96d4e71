"""The base class of optimizers: step, learning rate, clipping, non-finite gradients, statistics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import FunctionType, MappingProxyType
from typing import Any, Self

import numpy as np

from rlgraph.components.common.argument_checks import check_limit, check_number
from rlgraph.components.common.schedules import Schedule, check_progress
from rlgraph.core import AssemblyError, Component, NumericalError, SpecError, gradients, graph_fn, rlgraph_api
from rlgraph.core.functional.optimization import clip_by_global_norm, clip_by_norm, clip_by_value, global_norm
from rlgraph.core.specs.spec_types import ScheduleSpec
from rlgraph.spaces import Space

NON_FINITE = ("ignore", "skip", "error")


class Optimizer(Component):
    """Base class of optimizers; sub-classes define `rule` and declare its slots.

    One optimizer steps one list of variables. At most one of the three limits may be given; they limit the
    gradients, not the step. ``Optimizer.from_spec(spec, default="rmsprop")`` names the type of a spec that has none;
    without `default` it is Adam.

    Args:
        learning_rate: step size; a number or a schedule (see `Schedule.from_spec`): ``[1e-3, 1e-5]``. With a
            schedule, a step needs the fraction of training done.
        clip_grad_norm: largest L2 norm of all gradients together; all are scaled by one factor.
        clip_grad_norm_per_variable: largest L2 norm of the gradient of each variable; each is scaled on its own.
        clip_grad_value: largest size of an element of a gradient; each element is clipped on its own.
        non_finite: what to do if a gradient holds NaN or infinity. ``"ignore"``: no check, so the variables become NaN;
            free of cost. ``"skip"``: variables and slots do not change, and the variable ``skipped`` counts the step.
            ``"error"``: the same, and a `NumericalError` names component and variable.
        l2_penalty: `l2_penalty` times half the square of each element is added to the loss, after the limits on
            gradients; biases too.
    """

    other_names = MappingProxyType({"lr": "learning_rate", "eps": "epsilon"})
    spec_hint = "a learning rate alone is {'type': 'adam', 'learning_rate': 0.001}"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """A class with a rule has its own `_apply`: a kernel of its base class does not replace that."""
        super().__init_subclass__(**kwargs)
        shared = Optimizer._apply.function
        if {"declare_slots", "advance", "rule"} & vars(
            cls
        ).keys() and cls._apply.function.__code__ is shared.__code__:
            own = FunctionType(shared.__code__, shared.__globals__, "_apply", shared.__defaults__)
            own.__module__, own.__qualname__ = cls.__module__, f"{cls.__qualname__}._apply"
            cls._apply = graph_fn(returns=0)(own)  # type: ignore[method-assign]

    def __init__(
        self,
        learning_rate: ScheduleSpec = 1e-3,
        clip_grad_norm: float | None = None,
        clip_grad_norm_per_variable: float | None = None,
        clip_grad_value: float | None = None,
        non_finite: str = "ignore",
        l2_penalty: float = 0.0,
        scope: str = "optimizer",
        **kwargs: Any,
    ):
        if non_finite not in NON_FINITE:
            raise SpecError(
                f"expected one of {', '.join(NON_FINITE)}, given {non_finite!r}", path=f"{scope}.non_finite"
            )
        self.learning_rate = Schedule.from_spec(learning_rate, path=f"{scope}.learning_rate")
        # Schedules are monotonic, so checking their ends is enough.
        if min(self.learning_rate.value(0.0), self.learning_rate.value(1.0)) < 0.0:
            raise SpecError(f"expected a number >= 0, given {learning_rate!r}", path=f"{scope}.learning_rate")
        self.clip_grad_norm = check_limit(clip_grad_norm, f"{scope}.clip_grad_norm")
        self.clip_grad_norm_per_variable = check_limit(
            clip_grad_norm_per_variable, f"{scope}.clip_grad_norm_per_variable"
        )
        self.clip_grad_value = check_limit(clip_grad_value, f"{scope}.clip_grad_value")
        limits = (self.clip_grad_norm, self.clip_grad_norm_per_variable, self.clip_grad_value)
        if sum(limit is not None for limit in limits) > 1:
            raise SpecError(
                "expected one of clip_grad_norm, clip_grad_norm_per_variable and clip_grad_value, given "
                f"{clip_grad_norm!r}, {clip_grad_norm_per_variable!r} and {clip_grad_value!r}",
                path=scope,
            )
        self.non_finite = non_finite
        self.l2_penalty = check_number(l2_penalty, f"{scope}.l2_penalty", least=0)
        super().__init__(scope=scope, **kwargs)

    @classmethod
    def _from_plain(cls, spec: Any, where: str, kwargs: Mapping[str, Any]) -> Self:
        arguments = dict(kwargs)
        default = arguments.pop("default", "adam")
        if cls is Optimizer and (spec is None or (isinstance(spec, Mapping) and "type" not in spec)):
            spec = {"type": default, **(spec or {})}
        return super()._from_plain(spec, where, arguments)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        if input_spaces.get("progress") is not None:
            check_progress(input_spaces["progress"])

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        variables = input_spaces["variables"]
        self.stepped = {variable.name: variable.size for variable in variables}
        if self.non_finite != "ignore":
            self.skipped = self.get_variable("skipped", int)
        self.create_slots(variables)

    def create_slots(self, variables: Any) -> None:
        """Declare the slots of `variables`: those of `declare_slots`, as attributes of these names."""
        for name, start in self.declare_slots().items():
            slots = None if start is None else self.get_slots(name, variables, initializer=start)
            setattr(self, name, slots)

    # The rule.

    def declare_slots(self) -> Mapping[str, float | None]:
        """The names of the slots, each with its starting value; None: there is no such slot."""
        return {}

    def advance(self, ops: Any, finite: Any) -> tuple[Any, ...]:
        """Write what is counted once per step, and return its new values, ``[]``, for `rule`."""
        return ()

    def rule(self, ops: Any, rate: Any, variable: Any, gradient: Any, *state: Any) -> tuple[Any, ...]:
        """The new variable and slots, in the order of `declare_slots`.

        Args:
            ops: operations of the backend.
            rate: the learning rate, a number or [].
            variable, gradient: a block, ``[n]``, and its gradient with limits and penalty.
            state: the slots, ``[n]``, or None for one that was not declared; then the results of `advance`.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no rule: add a method rule, or a graph function _apply"
        )

    # Wiring.

    @rlgraph_api
    def step(self, variables: Any, loss: Any, progress: Any = None) -> None:
        """One step on `variables` (of ``component.variables()``) down the gradient of the scalar `loss`.

        Args:
            variables: the variables to update; for several components ``a.variables() + b.variables()``.
            loss: a float without axes.
            progress: the fraction of training done, []; only needed if the learning rate is a schedule.
        """
        self._step(variables, gradients(loss, variables), progress)

    @rlgraph_api
    def calculate_gradients(self, variables: Any, loss: Any) -> Any:
        """The gradients of the scalar `loss` by `variables`, before clipping, for the methods below."""
        return gradients(loss, variables)

    @rlgraph_api
    def apply_gradients(self, variables: Any, grads: Any, progress: Any = None) -> None:
        """One step on `variables` down `grads` of `calculate_gradients`; see `step`."""
        self._step(variables, grads, progress)

    @rlgraph_api
    def get_gradient_statistics(self, grads: Any) -> Any:
        """Statistics of `grads` from `calculate_gradients` before clipping.

        Returns:
            A dict of floats []: ``global_norm``, the L2 norm of all together; ``clipped``, the fraction of all elements
            that the limit changes; ``norms``, a dict with the L2 norm per component, by its scope.
        """
        return self._get_statistics(grads)

    @rlgraph_api
    def measured_step(self, variables: Any, loss: Any, progress: Any = None) -> Any:
        """`step`; returns ``{"gradient_norm": []}``, before clipping, if `clip_grad_norm` is set, else ``{}``."""
        if self.clip_grad_norm is None:
            self.step(variables, loss, progress)
            return {}
        grads = self.calculate_gradients(variables, loss)
        self.apply_gradients(variables, grads, progress)
        return {"gradient_norm": self._get_norm(grads)}

    def _step(self, variables: Any, grads: Any, progress: Any) -> None:
        rate = finite = None
        if not self.learning_rate.is_constant:
            if progress is None:
                raise AssemblyError(
                    f"{self.scope_path} needs progress, the fraction of training done, at every step: the "
                    f"learning rate is {self.learning_rate}"
                )
            rate = self._get_learning_rate(progress)
        if self.non_finite != "ignore":
            finite, finite_by_variable = self._are_finite(grads)
        self._apply(variables, grads, rate, finite)
        if self.non_finite == "error":
            self._refuse(finite_by_variable)

    # Graph functions.

    @graph_fn
    def _get_learning_rate(self, ops: Any, progress: Any) -> Any:
        return self.learning_rate.tensor(ops, progress)

    @graph_fn(returns=0)
    def _apply(
        self, ops: Any, variables: Any, gradients: Any, learning_rate: Any = None, finite: Any = None
    ) -> None:
        """The rule, from `prepared` to `write`.

        Args:
            ops: operations of the backend.
            variables, gradients: blocks.
            learning_rate: [], or None if it is constant.
            finite: [] bool, whether to write; None: always.
        """
        gradients, rate = self.prepared(ops, variables, gradients, learning_rate)
        numbers = self.advance(ops, finite)
        slots = [getattr(self, name) or [None] * len(variables) for name in self.declare_slots()]
        for variable, gradient, *old in zip(variables, gradients, *slots, strict=True):
            new_variable, *new = self.rule(ops, rate, variable, gradient, *old, *numbers)
            for slot, value in zip(old, new, strict=True):
                if slot is not None:
                    self.write(ops, finite, slot, value)
            self.write(ops, finite, variable, new_variable)

    @graph_fn(returns=2)
    def _are_finite(self, ops: Any, gradients: Any) -> tuple[Any, Any]:
        """Whether gradients are finite: ``[]`` for all together, ``[V]`` per variable, or per block if none is named.

        Counts the step if it is skipped.
        """
        pieces = list(gradients)
        if self.non_finite == "error":
            pieces = [piece for block in self._pieces(gradients) for piece in block]
        by_piece = ops.stack([ops.all(ops.isfinite(piece)) for piece in pieces])
        finite = ops.all(by_piece)
        ops.assign_add(self.skipped, ops.astype(ops.logical_not(finite), "int64"))
        return finite, by_piece

    @graph_fn(host=True, returns=0, spaces=())
    def _refuse(self, finite: np.ndarray) -> None:
        names = [name for name, is_finite in zip(self.stepped, finite, strict=True) if not is_finite]
        if names:
            component = names[0].rpartition("/")[0]
            raise NumericalError(
                f"{self.scope_path}: the gradient by {names[0]} (component {component}) is not finite; {len(names)} of "
                f"{len(finite)} variables have such gradients: {', '.join(names)}. The step was skipped. Lower the "
                "learning rate, set clip_grad_norm, or look for very large losses, rewards and states"
            )

    @graph_fn
    def _get_norm(self, ops: Any, gradients: Any) -> Any:
        return global_norm(ops, list(gradients))

    @graph_fn
    def _get_statistics(self, ops: Any, gradients: Any) -> Any:
        pieces = [piece for block in self._pieces(gradients) for piece in block]
        by_component: dict[str, list[Any]] = {}
        for name, piece in zip(self.stepped, pieces, strict=True):
            by_component.setdefault(name.rpartition("/")[0], []).append(piece)
        return {
            "global_norm": global_norm(ops, gradients),
            "clipped": self._get_clipped_fraction(ops, gradients, pieces),
            "norms": {component: global_norm(ops, parts) for component, parts in by_component.items()},
        }

    # Plain functions on tensors.

    def prepared(
        self, ops: Any, variables: Sequence[Any], gradients: Sequence[Any], learning_rate: Any
    ) -> tuple[Sequence[Any], Any]:
        """The inputs of a rule: (gradients, learning rate), clipped, with the penalty, and filled in."""
        rate = self.learning_rate.value(0.0) if learning_rate is None else learning_rate
        return self.penalized(variables, self.clipped(ops, gradients)), rate

    def penalized(self, variables: Sequence[Any], gradients: Sequence[Any]) -> Sequence[Any]:
        """Clipped gradients with those of the penalty."""
        if not self.l2_penalty:
            return gradients
        pairs = zip(gradients, variables, strict=True)
        return [gradient + self.l2_penalty * variable for gradient, variable in pairs]

    def write(self, ops: Any, finite: Any, target: Any, value: Any) -> None:
        """Write `value` into the variable or block `target` unless `finite` is false."""
        ops.assign(target, value if finite is None else ops.where(finite, value, target))

    def clipped(self, ops: Any, gradients: Sequence[Any]) -> Sequence[Any]:
        """Blocks of gradients, clipped to the limit."""
        if self.clip_grad_norm is not None:
            return clip_by_global_norm(ops, gradients, self.clip_grad_norm)
        if self.clip_grad_value is not None:
            return clip_by_value(ops, gradients, self.clip_grad_value)
        limit = self.clip_grad_norm_per_variable
        if limit is None:
            return gradients
        return [
            ops.concat([clip_by_norm(ops, piece, limit) for piece in block])
            for block in self._pieces(gradients)
        ]

    def _get_clipped_fraction(self, ops: Any, gradients: Sequence[Any], pieces: Sequence[Any]) -> Any:
        """``[]``: the fraction of all elements that `clipped` changes; scales within 1e-6 of the limit do not count."""
        size = float(sum(self.stepped.values()))
        if self.clip_grad_norm is not None:
            return ops.astype(global_norm(ops, gradients) > self.clip_grad_norm, "float")
        if self.clip_grad_value is not None:
            over = [ops.sum(ops.astype(ops.abs(g) > self.clip_grad_value, "float")) for g in gradients]
            return ops.sum(ops.stack(over)) / size
        limit = self.clip_grad_norm_per_variable
        if limit is None:
            return ops.zeros(())
        over = [ops.astype(global_norm(ops, [p]) > limit, "float") * float(p.shape[0]) for p in pieces]
        return ops.sum(ops.stack(over)) / size

    def _pieces(self, blocks: Sequence[Any]) -> Iterator[list[Any]]:
        """Each block as the list of its variables' elements: a block holds one or more, ordered by name."""
        sizes = iter(self.stepped.values())
        for block in blocks:
            pieces, start = [], 0
            while start < block.shape[0]:
                stop = start + next(sizes)
                pieces.append(block[start:stop])
                start = stop
            yield pieces
