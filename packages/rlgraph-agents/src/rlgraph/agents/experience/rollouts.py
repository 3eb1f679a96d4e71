"""Rollouts: the newest steps of all environments, learned from once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlgraph.agents.experience.fragment import Fragment, FragmentBuffer
from rlgraph.agents.experience.kind import ExperienceKind
from rlgraph.agents.experience.step import VectorStep
from rlgraph.agents.nested_arrays import map_arrays
from rlgraph.core import InputError, SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, Space

#: What a record has besides states and next states.
FIELDS = ("actions", "rewards", "terminals", "ends", "weights")


class Rollouts:
    """T steps of N environments side by side; due when T steps are there.

    Records are ``[T, N, ...]``: ``states``, ``next_states`` (those that were reached), ``actions``, ``rewards``,
    ``terminals``, ``ends`` (of episodes, and where a row is not a step), ``weights`` (0 where a row is not a step);
    ``begins`` for recurrent networks.

    Args:
        rollout_length: T.
    """

    has_memory = False

    def __init__(self, *, rollout_length: int = 128):
        if isinstance(rollout_length, bool) or not isinstance(rollout_length, int) or rollout_length < 1:
            raise SpecError(f"expected an integer >= 1, given {rollout_length!r}", path="rollout_length")
        self.rollout_length = rollout_length
        self._buffer = FragmentBuffer(rollout_length)

    @classmethod
    def of(cls, *shared: str) -> ExperienceKind:
        """The kind, for an algorithm that shares these options with it."""
        return ExperienceKind(cls, shared)

    @staticmethod
    def fields(is_recurrent: bool) -> tuple[str, ...]:
        """What a record has besides states and next states."""
        return (*FIELDS, "begins") if is_recurrent else FIELDS

    @staticmethod
    def input_spaces(states: Space, actions: Space, beginnings: Dict | None) -> dict[str, Any]:
        """The Spaces of the arguments of the root's ``update``.

        Args:
            states, actions: one state as the policy sees it, and one action.
            beginnings: the internal states of recurrent networks; None: there are none.
        """
        flags = {"terminals": BoolBox(), "ends": BoolBox()}
        if beginnings is not None:
            flags["begins"] = BoolBox()
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
            spaces["update.beginnings"] = beginnings.with_batch_rank()
        return spaces

    # Local: step by step.

    @property
    def is_due(self) -> bool:
        """Whether there is a whole rollout."""
        return self._buffer.is_full

    def add(self, step: VectorStep) -> None:
        """Take in one step of all environments."""
        self._buffer.add(step)

    def cut(self, slots: Sequence[int] | np.ndarray | None) -> None:
        """The episodes of `slots` (None: all) were cut after their last step."""
        self._buffer.cut(slots)

    def take(self, version: int) -> Fragment:
        """The rollout, which weights of this version acted."""
        return self._buffer.take(version=version)

    def get_state(self) -> Any:
        """Copies of the half-filled rollout; see `set_state`."""
        return self._buffer.get_state()

    def set_state(self, state: Any) -> None:
        """Continue from what `get_state` gave."""
        self._buffer.set_state(state)


def rollout_records(fragments: Sequence[Fragment], dtype: str) -> tuple[dict[str, Any], Any]:
    """The records ``[T, N, ...]`` of fragments side by side, and the internal states ``[N, ...]`` before them.

    Raises:
        InputError: the fragments have different lengths, or there are none.
    """
    if not fragments or len({fragment.length for fragment in fragments}) > 1:
        lengths = [fragment.length for fragment in fragments]
        raise InputError(f"expected fragments of one length, given lengths {lengths}")

    def side_by_side(parts: list[Any], axis: int = 1) -> Any:
        return parts[0] if len(parts) == 1 else map_arrays(lambda *x: np.concatenate(x, axis), *parts)

    valid = side_by_side([fragment.valid for fragment in fragments])
    ends = side_by_side([fragment.ends for fragment in fragments])
    records = {
        "states": side_by_side([map_arrays(lambda x: x[:-1], f.states) for f in fragments]),
        "next_states": side_by_side([fragment.next_states() for fragment in fragments]),
        "ends": ends | ~valid,
        "weights": valid.astype(dtype),
        **{
            name: side_by_side([getattr(fragment, name) for fragment in fragments])
            for name in ("actions", "rewards", "terminals", "begins")
        },
    }
    if fragments[0].internal_states is None:
        del records["begins"]
        return records, None
    return records, side_by_side([fragment.internal_states for fragment in fragments], 0)
