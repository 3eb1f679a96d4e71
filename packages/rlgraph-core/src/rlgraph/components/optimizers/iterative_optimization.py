"""Epochs over shuffled minibatches, in one call."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_flag, check_whole
from rlgraph.components.helpers.standardize import Standardize
from rlgraph.core import (
    AssemblyError,
    Component,
    InputError,
    SpecError,
    graph_fn,
    in_group,
    loop,
    rlgraph_api,
)
from rlgraph.core.component.members import BoundApiMethod
from rlgraph.core.errors import nearest
from rlgraph.core.functional.sequences import parts_side_by_side
from rlgraph.core.ops import leaves_of
from rlgraph.spaces import IntBox, Space, SpaceError
from rlgraph.spaces.errors import mismatch


def _order_space(*_: Any) -> Space:
    return IntBox(0, None, add_batch_rank="minibatch", add_time_rank=True, time_major=True)


class IterativeOptimization(Component):
    """Calls an API method on shuffled minibatches of one batch, for several epochs.

    Schulman et al. (2017), Algorithm 1, https://arxiv.org/abs/1707.06347. It is one call of one program. Every epoch
    reshuffles the batch and splits it into equal minibatches; an epoch skips the remaining records.

    Args:
        num_epochs: number of passes over the batch.
        num_minibatches: minibatches per epoch.
        sequences: False: a minibatch consists of single steps ``[M, ...]``; a time rank is folded into the batch first.
            True: it consists of sequences, ``[T, M, ...]`` or ``[M, T, ...]``; fields without time rank have one value
            per sequence, such as ``internal_states`` of observations before the first step. Where these are
            ``[C, N, ...]``, before each of C parts of the sequences ``[T, N, ...]``, the parts are the sequences: a
            minibatch is ``[T / C, M, ...]``, and has the internal states ``[M, ...]``.
        stop_if: ``(name, limit)``: stop after the first minibatch whose number `name` exceeds the limit (for example
            the divergence from the behaviour policy); None: never.
        standardized: ``(field, name)``: minibatches have the field `name`, in which the numbers of `field`, one per
            step, have mean 0 and deviation 1; items whose ``weights``, if there is that field, are 0 do not count. In
            a group of learners a minibatch is that of all. None: no field.

    Raises:
        SpecError: a number below 1, or an invalid `stop_if` or `standardized`.
        SpaceError: the records are not a container with a batch rank, fields have different ranks, or a result is not
            a single number.
    """

    ranks_may_differ = False

    def __init__(
        self,
        num_epochs: int = 1,
        num_minibatches: int = 1,
        sequences: bool = False,
        stop_if: tuple[str, float] | None = None,
        standardized: tuple[str, str] | None = None,
        scope: str = "iterative-optimization",
        **kwargs: Any,
    ):
        self.num_epochs = check_whole(num_epochs, f"{scope}.num_epochs", least=1)
        self.num_minibatches = check_whole(num_minibatches, f"{scope}.num_minibatches", least=1)
        self.sequences = check_flag(sequences, f"{scope}.sequences")
        self.stop_if = _pair(stop_if, int | float, "a pair of a name and a limit", f"{scope}.stop_if")
        self.standardized = _pair(standardized, str, "the names of two fields", f"{scope}.standardized")
        self.standardize = None if standardized is None else Standardize()
        super().__init__(*filter(None, [self.standardize]), scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        space = input_spaces["records"]
        if not isinstance(space, Mapping) or not space.has_batch_rank:  # type: ignore[attr-defined]
            raise SpaceError(f"{self.scope_path}: records must be a Dict with batch rank, given {space!r}")
        if self.sequences and not space.has_time_rank:  # type: ignore[attr-defined]
            hint = "for records without time rank leave out sequences=True"
            raise mismatch("records", "a Dict with batch and time rank", repr(space), hint)
        self.ranks = _ranks(space)

    @rlgraph_api
    def run(self, step: Callable[..., Any], records: Any, computed: Any = None, progress: Any = None) -> Any:
        """Call `step` on every minibatch.

        Args:
            step: an API method of any component, the caller included, or a function of wiring: ``step(records)`` or
                ``step(records, progress)`` takes the fields of a minibatch and returns a dict of numbers ``[]``,
                for example what a loss returns, whose ``loss_per_item`` is left out.
            records: a dict of fields ``[B, ...]``, or with a time rank.
            computed: further fields. What an update computes itself belongs here: the order of the records, drawn on
                the host, then need not wait for it.
            progress: passed to `step` if given.

        Returns:
            The means ``[]`` of these numbers over the calls, by name, and ``num_updates [] (int64)``, how many there
            were.

        Raises:
            AssemblyError: `step` is not callable or returns no dict, or one without the number of `stop_if`; `computed`
                beside records of unknown fields, or a field that is in both; there is no field to be standardized.
            InputError: fewer records, or sequences, than minibatches.
        """
        if not callable(step):
            raise AssemblyError(
                f"{self.scope_path}.run: step must be an API method or a function, given {step!r}"
            )
        records, constants = _apart(records)
        fields = records if computed is None else self._joined(records, computed)
        beginnings = _internal_states(fields)
        counted = records if beginnings is None else {"records": records, "internal_states": beginnings}
        order = self._order(counted)
        if not self.sequences:
            fields = self._folded(fields)
        elif beginnings is not None:
            fields = self._in_parts(fields, beginnings)
        shared = () if progress is None else (progress,)
        standardized = self._standardizing(fields, order)

        def numbers_of(i: Any) -> dict[str, Any]:
            rows = self._minibatch(i, order)
            minibatch = _joined((self._columns if self.sequences else self._rows)(fields, rows), constants)
            return self._checked(step(standardized(minibatch, i), *shared), _name_of(step))

        number = self.num_epochs * self.num_minibatches
        if self.stop_if is None:
            collected = loop(number, lambda i: (None, numbers_of(i)), collect=True)[1]
            return {
                **{name: self._mean(name, x) for name, x in collected.items()},
                "num_updates": self._all(),
            }

        names: list[str] = []

        def minibatch(i: Any, sums: Any, count: Any, _: Any) -> Any:
            numbers = numbers_of(i)
            names.extend(numbers)
            return self._added(sums, count, numbers)

        # Which numbers there are is known once the body is traced; the functions are evaluated after that.
        start = self._start(partial(tuple, names))
        sums, count, _ = loop(number, minibatch, *start, until=lambda _sums, _count, stopped: stopped)
        return {
            **{name: self._part(sums, count, place) for place, name in enumerate(names)},
            "num_updates": count,
        }

    def _joined(self, records: Any, computed: Any) -> dict[str, Any]:
        """The fields of both; what the wiring knows as a dict, such as a bundle of observations, stays one."""
        for name, fields in (("records", records), ("computed", computed)):
            if not isinstance(fields, Mapping):
                raise AssemblyError(
                    f"{self.scope_path}.run: {name}: expected a dict whose fields are known, as a literal or an "
                    f"argument of the root is, given {fields!r}; name them: {{'actions': {name}['actions'], ...}}"
                )
        for name in sorted(computed.keys() & records.keys()):
            raise AssemblyError(f"{self.scope_path}.run: computed: the records have the field {name!r}, too")
        return {**records, **computed}

    def _standardizing(self, fields: Any, order: Any) -> Callable[[Any, Any], Any]:
        """``f(minibatch, i)`` gives minibatch `i` with the field that is standardized."""
        if self.standardize is None or self.standardized is None:
            return lambda minibatch, i: minibatch
        (field, name), standardize = self.standardized, self.standardize
        if not isinstance(fields, Mapping) or field not in fields:
            known = nearest(field, fields) if isinstance(fields, Mapping) else f"Given {fields!r}."
            raise AssemblyError(f"{self.scope_path}.standardized: there is no field {field!r}. {known}")
        names = [field, *({"weights"} & fields.keys())]
        if not in_group():
            return lambda minibatch, i: {
                **minibatch,
                name: standardize.standardize(*(minibatch[each] for each in names)),
            }
        # Two sums over the learners for all minibatches, instead of two for each.
        made = standardize.standardize_columns(*(self._of_all(fields[each], order) for each in names))
        return lambda minibatch, i: {**minibatch, name: self._column(made, i)}

    def _checked(self, numbers: Any, step: str) -> dict[str, Any]:
        """What a step returned, if that is a dict of numbers."""
        if not isinstance(numbers, Mapping) or not numbers:
            raise AssemblyError(
                f"{self.scope_path}.run: {step} returns {numbers!r}; expected a dict of numbers by name: a "
                "dict literal, or what a loss returns; of the dict of a graph function the keys are not known yet"
            )
        if "num_updates" in numbers:
            raise AssemblyError(
                f"{self.scope_path}.run: {step} returns 'num_updates', the number of its calls"
            )
        if self.stop_if is not None and self.stop_if[0] not in numbers:
            raise AssemblyError(
                f"{self.scope_path}.stop_if: {step} returns no {self.stop_if[0]!r}. {nearest(self.stop_if[0], numbers)}"
            )
        return {name: number for name, number in sorted(numbers.items()) if name != "loss_per_item"}

    # Minibatches.

    @graph_fn(host=True, spaces=_order_space, shares=(), space_of="records", shape_only=True)
    def _order(self, space: Any, records: Any) -> np.ndarray:
        """The indices of the records, or sequences, of each minibatch, ``[updates, M]``."""
        leaves = zip(leaves_of(records), space.flatten().items(), strict=True)
        shapes = [(path, field.shape[: field.ndim - len(box.shape)]) for field, (path, box) in leaves]
        ranks = next(shape for path, shape in shapes if not _is_of_sequences(path))
        if not self.sequences:
            number = math.prod(ranks)
        elif states := next((shape for path, shape in shapes if _is_of_sequences(path)), None):
            number = math.prod(states)
            if len(states) > 1 and ranks[0] % states[0]:
                raise InputError(
                    f"{self.scope_path}.run: internal_states: expected those before parts of equal length of the "
                    f"{ranks[0]} steps, given {states[0]} of them"
                )
        else:
            number = ranks[-1 if space.time_major else 0]
        size = number // self.num_minibatches
        if size == 0:
            kind = "sequences: take more, or shorter ones" if self.sequences else "records"
            raise InputError(
                f"{self.scope_path}.num_minibatches: expected at most {number}, given {self.num_minibatches}: there "
                f"are {number} {kind}"
            )
        used = size * self.num_minibatches
        epochs = [self.rng.permutation(number)[:used] for _ in range(self.num_epochs)]
        return np.stack(epochs).reshape(-1, size)

    @graph_fn(flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True, space_of="field")
    def _folded(self, ops: Any, key: str, space: Space, field: Any) -> Any:
        """``[T, N, ...]`` or ``[N, T, ...] -> [T * N, ...]``."""
        if _ranks(space) != self.ranks or _is_of_sequences(key):
            hint = "one value per sequence needs sequences=True" if self.ranks[1] else ""
            raise mismatch(key, f"the ranks of the records, {_shown(self.ranks)}", repr(space), hint)
        return ops.reshape(field, (-1, *field.shape[2:])) if space.has_time_rank else field

    @graph_fn(
        flatten_ops={"field"}, split_ops=True, add_auto_key_as_first_param=True, space_of="internal_states"
    )
    def _in_parts(self, ops: Any, key: str, space: Space, field: Any, internal_states: Any) -> Any:
        """``[T, N, ...] -> [T / C, C * N, ...]``, the C parts of sequences; internal states ``[C * N, ...]``."""
        if not space.has_time_rank:
            return field
        if _is_of_sequences(key):
            return ops.reshape(field, (-1, *field.shape[2:]))
        return parts_side_by_side(ops, field, ops.shape(leaves_of(internal_states)[0])[0])

    @graph_fn
    def _minibatch(self, ops: Any, i: Any, order: Any) -> Any:
        return ops.take(order, i)

    @graph_fn(flatten_ops={"field"}, split_ops=True)
    def _rows(self, ops: Any, field: Any, rows: Any) -> Any:
        return ops.take(field, rows)

    @graph_fn(flatten_ops={"field"}, split_ops=True, add_auto_key_as_first_param=True, space_of="field")
    def _columns(self, ops: Any, key: str, space: Space, field: Any, columns: Any) -> Any:
        """Whole sequences ``[T, M, ...]`` or ``[M, T, ...]``; of a field without time rank ``[M, ...]``."""
        if not space.has_batch_rank:
            raise mismatch(key, "a field with batch rank", repr(space))
        return ops.take(field, columns, axis=int(space.time_major))

    @graph_fn(space_of="field")
    def _of_all(self, ops: Any, space: Space, field: Any, order: Any) -> Any:
        """The minibatches of a field side by side, ``[M, K]``, ``[T, M, K]`` or ``[M, T, K]``."""
        axis = int(self.sequences and bool(space.time_major))
        taken = ops.take(field, order, axis=axis)
        number = self.num_epochs * self.num_minibatches
        return ops.stack([taken[(slice(None),) * axis + (i,)] for i in range(number)], axis=-1)

    @graph_fn
    def _column(self, ops: Any, columns: Any, i: Any) -> Any:
        return ops.take(columns, i, axis=-1)

    # Numbers.

    @graph_fn
    def _all(self, ops: Any) -> Any:
        return ops.full((), self.num_epochs * self.num_minibatches, dtype="int64")

    @graph_fn
    def _mean(self, ops: Any, name: str, values: Any) -> Any:
        """``[updates] -> []``."""
        return ops.mean(_number(ops, name, values, 1))

    @graph_fn(returns=3)
    def _start(self, ops: Any, names: Callable[[], tuple[str, ...]]) -> Any:
        """Sums of the numbers, the number of updates, and whether to stop."""
        return ops.zeros((len(names()),)), ops.zeros((), dtype="int64"), ops.zeros((), dtype="bool")

    @graph_fn(returns=3, flatten_ops={"numbers"})
    def _added(self, ops: Any, sums: Any, count: Any, numbers: Mapping[str, Any]) -> Any:
        assert self.stop_if is not None
        floats = {name: _number(ops, name, number, 0) for name, number in numbers.items()}
        name, limit = self.stop_if
        return sums + ops.stack(list(floats.values())), count + 1, floats[name] > float(limit)

    @graph_fn
    def _part(self, ops: Any, sums: Any, count: Any, place: int) -> Any:
        return sums[place] / ops.astype(count, "float")


def _apart(fields: Any) -> tuple[Any, dict[str, Any]]:
    """Tensors, and what is known already: the `training` of observations."""
    if not isinstance(fields, Mapping):
        return fields, {}
    parts = {name: _apart(field) for name, field in fields.items()}
    constants = {name: rest for name, (_, rest) in parts.items() if rest}
    constants |= {name: field for name, field in fields.items() if field is None or isinstance(field, bool)}
    if not constants:
        return fields, {}
    return {name: part for name, (part, _) in parts.items() if not isinstance(part, bool | None)}, constants


def _joined(minibatch: Any, constants: Mapping[str, Any]) -> Any:
    if not constants:
        return minibatch
    joined = {k: _joined(minibatch[k], x) if isinstance(x, Mapping) else x for k, x in constants.items()}
    return {**minibatch, **joined}


def _number(ops: Any, name: str, number: Any, rank: int) -> Any:
    """A number that a step returned, or all of them, as floats."""
    if isinstance(number, int | float):
        return ops.full((), float(number))
    if len(number.shape) != rank:
        raise SpaceError(
            f"{name}: expected one number [] of each minibatch, given a tensor with {len(number.shape) - rank} axes"
        )
    return ops.astype(number, "float")


def _ranks(space: Any) -> tuple[bool, bool, bool]:
    """Whether there are a batch and a time rank, and whether that comes first."""
    return bool(space.has_batch_rank), bool(space.has_time_rank), bool(space.time_major)


def _internal_states(fields: Any) -> Any:
    """The internal states among fields; None: there are none."""
    if not isinstance(fields, Mapping):
        return None
    if "internal_states" in fields:
        return fields["internal_states"]
    return next((found for field in fields.values() if (found := _internal_states(field)) is not None), None)


def _is_of_sequences(path: str) -> bool:
    """Whether a field has one value for each sequence, or part of one, instead of one per step."""
    return "internal_states" in path.split("/")


def _shown(ranks: tuple[bool, bool, bool]) -> str:
    return {(True, False, False): "[B]", (True, True, False): "[B, T]"}.get(ranks, "[T, B]")


def _name_of(step: Callable[..., Any]) -> str:
    if isinstance(step, BoundApiMethod):
        return f"{step.component.scope_path}.{step.name}"
    return getattr(step, "__qualname__", repr(step))


def _pair(given: Any, kind: Any, expected: str, where: str) -> tuple[str, Any] | None:
    """A name and what is of a `kind`; None: none is given."""
    if given is None:
        return None
    is_pair = isinstance(given, Sequence) and not isinstance(given, str) and len(given) == 2
    if not is_pair or not isinstance(given[0], str) or not isinstance(given[1], kind):
        raise SpecError(f"expected {expected}, or None, given {given!r}", path=where)
    return given[0], given[1]
