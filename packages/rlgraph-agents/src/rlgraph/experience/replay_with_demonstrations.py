"""Replay of demonstrations and of own steps, with targets of one step and of several."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from rlgraph.components import DemonstrationReplay
from rlgraph.core import InputError, SpecError
from rlgraph.core.specs.spec_types import ComponentSpec
from rlgraph.experience.demonstrations import refuse_recurrence
from rlgraph.experience.experience import Writer
from rlgraph.experience.n_step import NStepWindows, n_step_transitions
from rlgraph.experience.nested_arrays import map_arrays, row
from rlgraph.experience.replay import FIELDS, Replay, ReplayWriter
from rlgraph.experience.sequence_indices import fragment_ends
from rlgraph.experience.specs import UpdateSpec
from rlgraph.spaces import BoolBox, Dict, Space

#: What a record has of the state n steps later.
LATER = ("rewards", "terminals", "next_states", "discounts")


class ReplayWithDemonstrations(Replay):
    """A memory of transitions, in which those of demonstrations are marked and stay.

    Demonstrations are what data sets and `Agent.import_observations` bring. Besides the fields of one step, records
    have ``demonstrations [B]``, and with an `n_step` above 1 those of the state n steps later: ``n_step_rewards``,
    ``n_step_terminals``, ``n_step_next_states``, ``n_step_discounts``.

    Args:
        discount: discount factor of one step.
        n_step: number of rewards of the target of several steps; 1: there is none.
        memory_spec: the memory, a `demonstration_replay`.
        update_spec: when to learn; see `UpdateSpec`.
    """

    def __init__(
        self,
        *,
        discount: float = 0.99,
        n_step: int = 10,
        memory_spec: ComponentSpec = None,
        update_spec: UpdateSpec | Mapping[str, Any] | None = None,
    ):
        if memory_spec is None or (isinstance(memory_spec, Mapping) and "type" not in memory_spec):
            memory_spec = {"type": "demonstration_replay", "capacity": 10_000, **(memory_spec or {})}
        super().__init__(discount=discount, n_step=n_step, memory_spec=memory_spec, update_spec=update_spec)
        if not isinstance(self.memory, DemonstrationReplay):
            raise SpecError(
                f"expected 'demonstration_replay', given a {type(self.memory).__name__}: others overwrite "
                "demonstrations; with alpha: 0 it draws uniformly",
                path="memory_spec.type",
            )
        self.batch_options = ("demonstrations", "importance_weights")
        if n_step > 1:
            self.state_fields = ("states", "next_states", "n_step_next_states")
            self.reward_fields = ("rewards", "n_step_rewards")

    def suited_to(self, is_recurrent: bool) -> Replay:
        refuse_recurrence(is_recurrent)
        return super().suited_to(is_recurrent)

    def fields(self, is_recurrent: bool) -> tuple[str, ...]:
        later = [f"n_step_{name}" for name in LATER if name != "next_states"] if self.n_step > 1 else []
        return (*FIELDS, "demonstrations", *later)

    def input_spaces(self, states: Space, actions: Space, beginnings: Dict | None) -> dict[str, Any]:
        spaces = super().input_spaces(states, actions, beginnings)
        fields = dict(spaces["records"].without_ranks())
        if self.n_step > 1:
            later = {**fields, "discounts": fields.pop("discounts")}
            fields |= {f"n_step_{name}": later[name] for name in LATER}
        return {**spaces, "records": Dict({**fields, "demonstrations": BoolBox()}, add_batch_rank=True)}

    def make_writer(self, insert: Callable[..., Any] | None, dtype: str) -> Writer:
        assert insert is not None
        return ReplayWriter(self, lambda records: insert(_marked(records, False)), dtype)

    def make_windows(self, dtype: str) -> NStepWindows | None:
        return Horizons(self.n_step, self.discount, dtype) if self.n_step > 1 else None

    def as_data(self, records: Mapping[str, Any]) -> dict[str, Any]:
        return _marked(records, True)

    def records_of_batch(
        self, method: str, columns: dict[str, Any], truncations: np.ndarray, sequence_indices: Any, dtype: str
    ) -> dict[str, Any]:
        """Transitions ``[B]``, of one step and, from fragments, of up to `n_step`."""
        if self.n_step > 1 and sequence_indices is None:
            raise InputError(
                f"{method}: expected fragments, since a target has {self.n_step} rewards: give sequence_indices=, the "
                "last row of each, or n_step=1"
            )
        flags = np.asarray(columns.pop("demonstrations", np.zeros(len(truncations), bool)))
        if flags.shape != truncations.shape or flags.dtype != bool:
            raise InputError(
                f"{method}: demonstrations: expected bool[{len(truncations)}], given {flags.dtype}{list(flags.shape)}"
            )
        columns["demonstrations"] = flags
        if sequence_indices is None:
            return columns
        ends = fragment_ends(method, sequence_indices, len(truncations)) | truncations
        later = super().records_of_batch(method, dict(columns), truncations, sequence_indices, dtype)
        near = n_step_transitions(columns, ends, 1, self.discount)
        return near if self.n_step == 1 else {**near, **{f"n_step_{name}": later[name] for name in LATER}}


def _marked(records: Mapping[str, Any], are_demonstrations: bool) -> dict[str, Any]:
    return {**records, "demonstrations": np.full(len(records["rewards"]), are_demonstrations)}


class TwoHorizons(NamedTuple):
    """Transitions ``[B]`` of one step, and of up to n."""

    states: Any
    actions: Any
    rewards: np.ndarray
    terminals: np.ndarray
    next_states: Any
    n_step_rewards: np.ndarray
    n_step_terminals: np.ndarray
    n_step_next_states: Any
    n_step_discounts: np.ndarray


class Horizons(NStepWindows):
    """As `NStepWindows`; its transitions are `TwoHorizons`."""

    def _transitions(self, slots: np.ndarray, length: int, terminals: np.ndarray) -> Any:
        later = super()._transitions(slots, length, terminals)
        at = (self._clock[slots] - length) % self.n_step
        if length == 1:
            following, ends = later.next_states, terminals
        else:
            after = (at + 1) % self.n_step
            following = map_arrays(lambda ring: ring[after, slots], self._states)
            ends = np.zeros(len(slots), bool)
        rewards = row(self._rewards, (at, slots))
        return TwoHorizons(
            later.states, later.actions, rewards, ends, following, *later[2:5], later.discounts
        )
