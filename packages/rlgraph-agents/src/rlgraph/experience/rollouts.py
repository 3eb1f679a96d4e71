"""Rollouts: the newest steps of all environments, learned from once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_whole
from rlgraph.core import InputError, SpecError
from rlgraph.experience.experience import Experience
from rlgraph.experience.fragment import Fragment, FragmentBuffer
from rlgraph.experience.nested_arrays import length, map_arrays, row
from rlgraph.experience.sequence_indices import fragment_ends
from rlgraph.experience.step import VectorStep
from rlgraph.spaces import BoolBox, Dict, FloatBox, Space

#: What a record has besides states and next states.
FIELDS = ("actions", "rewards", "terminals", "ends", "weights")


class Rollouts(Experience):
    """T steps of N environments side by side; due when T steps are there.

    Records are ``[T, N, ...]``: ``states``, ``next_states`` (those that were reached), ``actions``, ``rewards``,
    ``terminals``, ``ends`` (of episodes, where a row is not a step, and before such a row), ``weights`` (0 where a row
    is not a step); ``begins`` for recurrent networks.

    Args:
        rollout_length: T, steps of each environment between two rounds of updates.
        sequence_length: steps of the sequences that recurrent networks are unrolled over, each from the internal states
            that acting had before its first step; it divides T. Default: the largest divisor of T from 8 to 32; T if
            that is at most 32, or has none.
    """

    is_sequential = True

    def __init__(self, *, rollout_length: int = 128, sequence_length: int | None = None):
        self.rollout_length = check_whole(rollout_length, "rollout_length", least=1)
        if sequence_length is not None and rollout_length % check_whole(
            sequence_length, "sequence_length", least=1
        ):
            raise SpecError(
                f"expected a number that divides rollout_length, {rollout_length}, given {sequence_length}",
                path="sequence_length",
            )
        self._cut_into(sequence_length)

    def _cut_into(self, sequence_length: int | None) -> None:
        self.internal_state_interval = sequence_length
        self._buffer = FragmentBuffer(self.rollout_length, sequence_length)

    def suited_to(self, is_recurrent: bool) -> Rollouts:
        if self.internal_state_interval is not None and not is_recurrent:
            raise SpecError(
                "expected recurrent layers, such as lstm, in network_spec: without them leave it out",
                path="sequence_length",
            )
        if is_recurrent and self.internal_state_interval is None:
            self._cut_into(default_sequence_length(self.rollout_length))
        return self

    def fields(self, is_recurrent: bool) -> tuple[str, ...]:
        return (*FIELDS, *(("begins",) * is_recurrent), *(("remembered",) * bool(self.remembered)))

    def input_spaces(self, states: Space, actions: Space, beginnings: Dict | None) -> dict[str, Any]:
        flags: dict[str, Any] = {"terminals": BoolBox(), "ends": BoolBox()}
        if beginnings is not None:
            flags["begins"] = BoolBox()
        if self.remembered:
            flags["remembered"] = Dict(dict(self.remembered))
        records = Dict(
            {
                "states": states,
                "next_states": states,
                "actions": actions,
                "rewards": FloatBox(),
                "weights": FloatBox(),
                **flags,
            },
            add_batch_rank=True,
            add_time_rank=True,
            time_major=True,
        )
        spaces: dict[str, Any] = {"update.records": records}
        if beginnings is not None:
            sequences = self.internal_state_interval is not None and "sequences"
            spaces["update.beginnings"] = beginnings.with_extra_ranks(True, sequences, time_major=True)
        return spaces

    def sequences_of(self, environments: int) -> int:
        return environments * (self.rollout_length // (self.internal_state_interval or self.rollout_length))

    def take_due(self, steps: int) -> int:
        return int(self._buffer.is_full)

    def take(self, version: int) -> Fragment:
        return self._buffer.take(version=version)

    def records_of(self, fragments: Sequence[Fragment], dtype: str) -> tuple[dict[str, Any], Any]:
        return rollout_records(fragments, dtype, self.internal_state_interval)

    def records_of_batch(
        self, method: str, columns: dict[str, Any], truncations: np.ndarray, sequence_indices: Any, dtype: str
    ) -> dict[str, Any]:
        """Fields ``[T, N, ...]``, or ``[T, ...]`` of one environment, as a rollout.

        A row without a next state, the last of a fragment that goes on, has no weight.
        """
        ends, weights = columns["terminals"] | truncations, np.ones(truncations.shape, dtype)
        if truncations.ndim == 1:
            ends = ends | fragment_ends(method, sequence_indices, len(ends))
            if "next_states" not in columns:
                following = np.minimum(np.arange(len(ends)) + 1, len(ends) - 1)
                columns["next_states"] = row(columns["states"], following)
                weights[ends & ~columns["terminals"]] = 0.0
                ends = _apart_from_left_out(ends, weights)
            records = {**columns, "ends": ends, "weights": weights}
            return {name: map_arrays(lambda x: x[:, None], column) for name, column in records.items()}
        if truncations.ndim != 2 or "next_states" not in columns:
            raise InputError(
                f"{method}: expected fields [T, ...] of one environment, or [T, N, ...] with next_states, given "
                f"rewards of shape {list(truncations.shape)}"
            )
        if sequence_indices is not None:
            raise InputError(f"{method}: sequence_indices: rollouts [T, N]: mark ends with truncations")
        return {**columns, "ends": ends, "weights": weights}

    # The one writer is that of this process.

    def make_writer(self, insert: Callable[..., Any] | None, dtype: str) -> Rollouts:
        return self

    def add(self, step: VectorStep, slots: np.ndarray | None = None) -> None:
        if slots is not None and not np.array_equal(slots, np.arange(len(step.rewards))):
            raise InputError(
                "observe: expected a step of all environments at once, row i of environment i: leave out env_id"
            )
        self._buffer.add(step)

    def cut(self, slots: Sequence[int] | np.ndarray | None = None) -> None:
        self._buffer.cut(slots)

    #: The steps of a rollout do not wait: they are records already.
    drop = cut

    def get_state(self) -> Any:
        return self._buffer.get_state()

    def set_state(self, state: Any) -> None:
        self._buffer.set_state(state)


def default_sequence_length(rollout_length: int) -> int | None:
    """The largest divisor from 8 to 32; None if the rollout is at most 32 steps long, or there is none."""
    lengths = range(32, 7, -1) if rollout_length > 32 else ()
    return next((length for length in lengths if rollout_length % length == 0), None)


def _apart_from_left_out(ends: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """`ends` and the rows before those without weight: advantages would run on into what is left out."""
    apart = ends.copy()
    apart[:-1] |= weights[1:] == 0
    return apart


def rollout_records(
    fragments: Sequence[Fragment], dtype: str, interval: int | None
) -> tuple[dict[str, Any], Any]:
    """The records ``[T, N, ...]`` of fragments side by side, and the internal states before them.

    The states are ``[N, ...]`` or, with an interval, ``[T / interval, N, ...]``.

    Raises:
        InputError: the fragments have different lengths, or there are none; the internal states have another interval.
    """
    if not fragments or len({fragment.length for fragment in fragments}) > 1:
        lengths = [fragment.length for fragment in fragments]
        raise InputError(f"expected fragments of one length, given lengths {lengths}")

    def side_by_side(parts: list[Any], axis: int = 1) -> Any:
        return parts[0] if len(parts) == 1 else map_arrays(lambda *x: np.concatenate(x, axis), *parts)

    valid = side_by_side([fragment.valid for fragment in fragments])
    ends = side_by_side([fragment.ends for fragment in fragments])
    weights = valid.astype(dtype)
    if not valid.all():
        ends = _apart_from_left_out(ends | ~valid, weights)
    records = {
        "states": side_by_side([map_arrays(lambda x: x[:-1], f.states) for f in fragments]),
        "next_states": side_by_side([fragment.next_states() for fragment in fragments]),
        "ends": ends,
        "weights": weights,
        **{
            name: side_by_side([getattr(fragment, name) for fragment in fragments])
            for name in ("actions", "rewards", "terminals", "begins")
        },
    }
    if fragments[0].remembered is not None:
        records["remembered"] = side_by_side([fragment.remembered for fragment in fragments])
    if fragments[0].internal_states is None:
        del records["begins"]
        return records, None
    if interval is None:
        return records, side_by_side([row(fragment.internal_states, 0) for fragment in fragments], 0)
    for fragment in fragments:
        if (given := length(fragment.internal_states)) != fragment.length // interval:
            raise InputError(
                f"sequence_length: expected the internal states before {fragment.length // interval} sequences of a "
                f"fragment, given {given}: a FragmentSampler collects them with internal_state_interval={interval}"
            )
    return records, side_by_side([fragment.internal_states for fragment in fragments])
