"""The base class of losses: a number per item, and their mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rlgraph.components.common.named_values import arguments_of
from rlgraph.components.common.schedules import Schedule, check_progress
from rlgraph.components.losses.per_item_checks import (
    check_items,
    check_lengths,
    check_log_probs,
    check_parts,
    time_axis_of,
)
from rlgraph.core import AssemblyError, Component, SpecError, all_reduce, graph_fn, in_group, rlgraph_api
from rlgraph.core.component.members import ApiMethod
from rlgraph.core.errors import InferenceError, nearest
from rlgraph.core.functional.supervised import sequence_mask
from rlgraph.core.functional.weighting import part_of_number, weighted_mean, weighted_sum, without_garbage
from rlgraph.spaces import Space


class LossFunction(Component):
    """A loss: one number per item of a batch, and their mean.

    A subclass implements `loss_per_item`, which returns one number per item: a tensor, or a dict of named ones with the
    key ``loss``. It then has `loss` with the same arguments, and with `weights` of the items, which returns the means
    by the same names and ``loss_per_item``. Items are ``[B]``; those of a loss that takes sequences may be the steps of
    these, ``[T, B]`` or ``[B, T]``, and its `loss` has `sequence_length` too.

    Attributes:
        item_arguments: names of the arguments with one number per item; all have the same ranks.
        part_arguments: names of the arguments with numbers of each part of an action: tensors or containers.
        measures: names of the numbers that are only measured, such as the entropy: weights above 0 do not scale them.
        takes_sequences: whether items may have a time rank.
        average_time_steps: of sequences, the mean of all steps is taken; False: the sum of the steps of each sequence,
            and the mean of these.
        time_axis: the axis of the time rank of the items, 0 or 1; None without one. Known once it is built.
        item_rank: the number of axes of the items, 1 or 2. Known once it is built.
    """

    item_arguments: ClassVar[tuple[str, ...]] = ()
    part_arguments: ClassVar[tuple[str, ...]] = ()
    measures: ClassVar[tuple[str, ...]] = ()
    takes_sequences: ClassVar[bool] = False
    average_time_steps: bool = True
    time_axis: int | None = None
    item_rank: int = 1
    ranks_may_differ = False

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        per_item = vars(cls).get("loss_per_item")
        if isinstance(per_item, ApiMethod) and "loss" not in vars(cls):
            cls.loss = _with_means(per_item, cls.takes_sequences)
        if isinstance(getattr(cls, "loss", None), ApiMethod):
            _check_names(cls)

    # `loss` is made of `loss_per_item`.
    loss: ClassVar[Any]
    loss_per_item: ClassVar[Any]

    @rlgraph_api(must_be_complete=False)
    def loss_average(self, loss_per_item: Any = None, weights: Any = None) -> Any:
        """The mean, as `loss` takes it: ``loss_per_item [B], weights [B] -> []``."""
        return None if loss_per_item is None else self.mean_of(loss_per_item, weights, measured=False)

    def means_of_items(self, items: Mapping[str, Any], weights: Any = None) -> dict[str, Any]:
        """The means [] of numbers per item, by name, over the batches of all learners; for use in API methods."""
        return {name: self.mean_of(x, weights, name in self.measures) for name, x in items.items()}

    def mean_of(self, per_item: Any, weights: Any, measured: bool) -> Any:
        """The mean [] of one number per item, that of a loss or only measured; for use in API methods."""
        if not in_group():
            return self._measure(per_item, weights) if measured else self._average(per_item, weights)
        # What is measured has another number than a loss only where sequences are counted: mostly there is one for all.
        as_steps = measured and not self.average_time_steps
        number = self._own_number(per_item if weights is None else weights, weights is not None, as_steps)
        return all_reduce(self._own_sum(per_item, weights, measured), number)

    @graph_fn
    def _average(self, ops: Any, loss_per_item: Any, weights: Any = None) -> Any:
        return weighted_mean(ops, *self._averaged(ops, loss_per_item, weights))

    @graph_fn
    def _measure(self, ops: Any, per_item: Any, weights: Any = None) -> Any:
        """The mean of the items that count, ``[B], [B] -> []``."""
        return weighted_mean(ops, *self._measured(ops, per_item, weights))

    @graph_fn
    def _own_sum(self, ops: Any, per_item: Any, weights: Any = None, measured: bool = False) -> Any:
        """What `_average`, or `_measure`, divides: ``[B] -> []``."""
        return weighted_sum(ops, *(self._measured if measured else self._averaged)(ops, per_item, weights))

    @graph_fn
    def _own_number(self, ops: Any, items: Any, weighted: bool, as_steps: bool) -> Any:
        """By what it is divided, from the weights of the items, or from numbers per item: ``[B] -> []``."""
        counted = self._measured if as_steps else self._averaged
        numbers = ops.astype(items, "float")  # a mask is one of bools
        return part_of_number(ops, *counted(ops, numbers, items if weighted else None))

    def _averaged(self, ops: Any, per_item: Any, weights: Any) -> tuple[Any, Any]:
        """The numbers whose mean is the loss, and their weights: of steps or of sequences."""
        self._check_rank(per_item, weights)
        if self.time_axis is None or self.average_time_steps:
            return per_item, weights
        if weights is None:
            return ops.sum(per_item, axis=self.time_axis), None
        steps = ops.astype(weights, "float") * without_garbage(ops, per_item, weights)
        has_steps = ops.max(ops.astype(ops.astype(weights, "bool"), "float"), axis=self.time_axis)
        return ops.sum(steps, axis=self.time_axis), has_steps

    def _measured(self, ops: Any, per_item: Any, weights: Any) -> tuple[Any, Any]:
        self._check_rank(per_item, weights)
        return per_item, None if weights is None else ops.astype(weights, "bool")

    def _check_rank(self, per_item: Any, weights: Any) -> None:
        if len(per_item.shape) != (self.item_rank if weights is None else len(weights.shape)):
            given = "" if weights is None else f", and weights {weights!r}"
            raise InferenceError(
                f"loss_per_item: expected one number per item, {'[B]' if self.item_rank == 1 else '[T, B]'}, given "
                f"{per_item!r}{given}"
            )

    @graph_fn(flatten_ops={"values"}, split_ops=True)
    def _without_garbage(self, ops: Any, values: Any, weights: Any) -> Any:
        """0 in items of weight 0. What is not one per item, such as a temperature, stays."""
        return values if len(values.shape) < len(weights.shape) else without_garbage(ops, values, weights)

    @graph_fn(flatten_ops={"like"})
    def _weights_of_steps(self, ops: Any, like: Any, sequence_length: Any, weights: Any = None) -> Any:
        """The weights, but 0 after the end of each sequence; `like` has the axes of the items."""
        if self.time_axis is None:
            raise AssemblyError(f"{self.scope_path}: sequence_length needs items with time rank")
        mask = sequence_mask(ops, sequence_length, next(iter(like.values())), self.time_axis)
        return mask if weights is None else ops.where(mask, ops.astype(weights, "float"), 0.0)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        check_lengths(input_spaces)
        if input_spaces.get("progress") is not None:
            check_progress(input_spaces["progress"])
        items = {
            name: input_spaces[name] for name in (*self.item_arguments, "weights") if name in input_spaces
        }
        check_items(items)
        if items:
            first = next(iter(items))
            self.time_axis = time_axis_of(items[first])
            self.item_rank = len(items[first].get_shape(True, True))
            parts = [name for name in self.part_arguments if name in input_spaces]
            check_log_probs(input_spaces, [name for name in parts if "log_probs" in name])
            check_parts(input_spaces, parts, first)

    def at(self, ops: Any, name: str, progress: Any) -> Any:
        """The present value of the schedule in the attribute `name`, a number or ``[]``; for use in graph functions.

        Raises:
            AssemblyError: it changes over training, and `progress` is missing.
        """
        schedule: Schedule = getattr(self, name)
        if progress is None and not schedule.is_constant:
            raise AssemblyError(f"{self.scope_path}.{name} changes over training: pass the argument progress")
        return schedule.tensor(ops, progress)


def _check_names(cls: type[LossFunction]) -> None:
    """Raise `AssemblyError` unless the arguments in the lists of a loss are arguments of `loss_per_item`."""
    known = {*cls.loss.signature.parameters, *cls.loss_per_item.signature.parameters} - {"self"}
    for attribute in ("item_arguments", "part_arguments"):
        for name in getattr(cls, attribute):
            if name not in known:
                raise AssemblyError(
                    f"{cls.__name__}.{attribute}: {name!r} is not an argument of loss_per_item. {nearest(name, known)}"
                )


def _with_means(per_item: ApiMethod, takes_sequences: bool) -> ApiMethod:
    """Make the API method `loss` from a `loss_per_item`."""
    needs_weights = "weights" in per_item.signature.parameters

    def loss(self: Any, weights: Any, sequence_length: Any = None, **arguments: Any) -> Any:
        if sequence_length is not None:
            like = arguments[(*self.item_arguments, *self.part_arguments)[0]]
            weights = self._weights_of_steps(like, sequence_length, weights)
        if weights is not None:
            arguments = {
                name: self._without_garbage(value, weights)
                if not (value is None or isinstance(value, bool) or name == "progress")
                else value
                for name, value in arguments.items()
            }
        if needs_weights:
            arguments["weights"] = weights
        # No call of the API method: its arguments are made here, so their Spaces would not be known in time.
        items = per_item.function(self, **arguments)
        items = items if isinstance(items, dict) else {"loss": items}
        if "loss" not in items or isinstance(items["loss"], tuple | list | dict):
            raise AssemblyError(
                f"{self.scope_path}.loss_per_item: expected one number per item, [B], or a dict of these with the key "
                "'loss', given nothing of the kind"
            )
        means = self.means_of_items(items, weights)
        kept = items["loss"] if weights is None else self._without_garbage(items["loss"], weights)
        return {**means, "loss_per_item": kept}

    lengths = " ``sequence_length`` [B]: number of valid steps of each sequence; default: all."
    loss.__doc__ = (
        "The means [] of what `loss_per_item` returns, by name, and ``loss_per_item``. Arguments as of "
        "`loss_per_item`, and ``weights``, one per item: an item of weight 0 does not count, whatever is in it, and a "
        f"weight above 0 scales its loss in the mean, not in ``loss_per_item``.{lengths if takes_sequences else ''}"
    )
    more = ("weights", "sequence_length") if takes_sequences else ("weights",)
    made: ApiMethod = rlgraph_api(arguments_of(per_item, without="weights", more=more)(loss))
    return made


def read_schedule(spec: Any, where: str) -> Schedule:
    """A weight or limit of a loss: a number or a schedule (see `Schedule.from_spec`).

    Raises:
        SpecError: `spec` is neither, or is below 0 at some time.
    """
    schedule = Schedule.from_spec(spec, path=where)
    if min(schedule.value(0.0), schedule.value(1.0)) < 0.0:
        raise SpecError(f"expected a number >= 0 or a schedule of numbers >= 0, given {spec!r}", path=where)
    return schedule
