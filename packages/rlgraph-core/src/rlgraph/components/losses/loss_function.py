"""The base class of losses: a number per item, and their mean."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar

from rlgraph.components.common.schedules import Schedule, check_time_percentage
from rlgraph.components.losses.per_item_checks import (
    check_items,
    check_lengths,
    check_log_probs,
    check_parts,
    time_axis_of,
)
from rlgraph.core import AssemblyError, Component, SpecError, graph_fn, rlgraph_api
from rlgraph.core.component.decorators import ApiMethod
from rlgraph.core.errors import InferenceError, nearest
from rlgraph.core.functional.prioritized_replay import weighted_mean
from rlgraph.core.functional.supervised import sequence_mask
from rlgraph.spaces import Space


class LossFunction(Component):
    """A loss: one number per item of a batch, and their mean.

    A subclass implements `loss_per_item`. It then has `loss` with the same arguments, which also returns the mean and
    accepts the importance weights of a prioritized memory. A loss of several parts with an optimizer each (critic,
    actor) returns a dict of them wherever others return a tensor.

    Attributes:
        item_arguments: names of the arguments with one number per item; all have the same ranks.
        part_arguments: names of the arguments with numbers of each part of an action: tensors or containers.
        time_axis: the axis of the time rank of the items, 0 or 1; None without one. Known once it is built.
    """

    item_arguments: ClassVar[tuple[str, ...]] = ()
    part_arguments: ClassVar[tuple[str, ...]] = ()
    time_axis: int | None = None
    ranks_may_differ = False

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        per_item = vars(cls).get("loss_per_item")
        if isinstance(per_item, ApiMethod) and "loss" not in vars(cls):
            cls.loss = _with_mean(per_item)
        if isinstance(getattr(cls, "loss", None), ApiMethod):
            _check_names(cls)

    # `loss` is made of `loss_per_item`.
    loss: ClassVar[Any]
    loss_per_item: ClassVar[Any]

    @rlgraph_api(must_be_complete=False)
    def loss_average(self, loss_per_item: Any = None, importance_weights: Any = None) -> Any:
        """The mean: ``loss_per_item [B], importance_weights [B] -> []``; of each part, if there are several."""
        return None if loss_per_item is None else self._average(loss_per_item, importance_weights)

    @graph_fn(flatten_ops={"loss_per_item"}, split_ops=True)
    def _average(self, ops: Any, loss_per_item: Any, importance_weights: Any = None) -> Any:
        if len(loss_per_item.shape) != 1:
            raise InferenceError(
                f"loss_per_item: expected one number per item, [B], given {loss_per_item!r}; over_time makes one "
                "number of each sequence"
            )
        if importance_weights is not None and len(importance_weights.shape) != len(loss_per_item.shape):
            raise InferenceError(
                f"importance_weights: expected one per item, {loss_per_item!r}, given {importance_weights!r}"
            )
        return weighted_mean(ops, loss_per_item, importance_weights)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        check_lengths(input_spaces)
        if input_spaces.get("time_percentage") is not None:
            check_time_percentage(input_spaces["time_percentage"])
        items = {name: input_spaces[name] for name in self.item_arguments if name in input_spaces}
        check_items(items)
        if items:
            first = next(iter(items))
            self.time_axis = time_axis_of(items[first])
            parts = [name for name in self.part_arguments if name in input_spaces]
            check_log_probs(input_spaces, [name for name in parts if "log_probs" in name])
            check_parts(input_spaces, parts, first)

    def at(self, ops: Any, name: str, time_percentage: Any) -> Any:
        """The present value of the schedule in the attribute `name`, a number or ``[]``; for use in graph functions.

        Raises:
            AssemblyError: it changes over training, and `time_percentage` is missing.
        """
        schedule: Schedule = getattr(self, name)
        if time_percentage is None and not schedule.is_constant:
            raise AssemblyError(
                f"{self.scope_path}.{name} changes over training: pass the argument time_percentage"
            )
        return schedule.tensor(ops, time_percentage)

    def over_time(self, ops: Any, losses: Any, sequence_length: Any, average: bool) -> Any:
        """Reduce losses of steps to losses of sequences: ``[T, B]`` or ``[B, T] -> [B]``; ``[B]`` stays.

        Args:
            ops: the operations.
            losses: one per step.
            sequence_length: number of valid steps of each sequence, [B]; None: all.
            average: take the mean of the valid steps instead of their sum.
        """
        mask = self.mask_of(ops, sequence_length, losses)
        if self.time_axis is None:
            return losses
        if mask is None:
            return (ops.mean if average else ops.sum)(losses, axis=self.time_axis)
        total = ops.sum(ops.where(mask, losses, 0.0), axis=self.time_axis)
        return total / ops.maximum(ops.astype(sequence_length, "float"), 1.0) if average else total

    def mask_of(self, ops: Any, sequence_length: Any, losses: Any) -> Any:
        """The mask of valid steps, bool, of the shape of `losses`; None: all. Arguments as of `over_time`.

        Raises:
            AssemblyError: `sequence_length` is given for items without time rank.
        """
        if sequence_length is None:
            return None
        if self.time_axis is None:
            raise AssemblyError(f"{self.scope_path}: sequence_length needs items with time rank")
        return sequence_mask(ops, sequence_length, losses, self.time_axis)

    def without_padding(self, ops: Any, values: Any, sequence_length: Any) -> Any:
        """``[T, B, ...]`` or ``[B, T, ...]``, 0 in the invalid steps; arguments as of `over_time`.

        Values there, even NaN, then reach neither losses nor derivatives.
        """
        mask = self.mask_of(ops, sequence_length, values)
        if mask is None:
            return values
        for _ in values.shape[2:]:
            mask = ops.expand_dims(mask, -1)
        return ops.where(mask, values, ops.zeros_like(values))


def _check_names(cls: type[LossFunction]) -> None:
    """Raise `AssemblyError` unless the arguments in the lists of a loss are arguments of `loss_per_item`."""
    known = {*cls.loss.signature.parameters, *cls.loss_per_item.signature.parameters} - {"self"}
    for attribute in ("item_arguments", "part_arguments"):
        for name in getattr(cls, attribute):
            if name not in known:
                raise AssemblyError(
                    f"{cls.__name__}.{attribute}: {name!r} is not an argument of loss_per_item. {nearest(name, known)}"
                )


def _with_mean(per_item: ApiMethod) -> ApiMethod:
    """Make the API method `loss` from a `loss_per_item`."""

    def loss(self: Any, importance_weights: Any, **arguments: Any) -> Any:
        losses = self.loss_per_item(**arguments)
        if isinstance(losses, dict | tuple) and not losses:
            raise AssemblyError(
                f"{self.scope_path}.loss_per_item: expected one number per item, [B], or a dict of these, given nothing"
            )
        return self.loss_average(losses, importance_weights), losses

    loss.__doc__ = (
        "The mean loss [] and the loss per item. Arguments as of `loss_per_item`, and ``importance_weights [B]``: "
        "weights of the items in the mean (Schaul et al., 2016); the loss per item is unweighted."
    )
    weights = inspect.Parameter(
        "importance_weights", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=Any
    )
    parameters = [*per_item.signature.parameters.values(), weights]
    loss.__signature__ = per_item.signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return rlgraph_api(returns=2)(loss)


def read_schedule(spec: Any, where: str) -> Schedule:
    """A weight or limit of a loss: a number or a schedule (see `Schedule.from_spec`).

    Raises:
        SpecError: `spec` is neither, or is below 0 at some time.
    """
    schedule = Schedule.from_spec(spec, path=where)
    if min(schedule.value(0.0), schedule.value(1.0)) < 0.0:
        raise SpecError(f"expected a number >= 0 or a schedule of numbers >= 0, given {spec!r}", path=where)
    return schedule
