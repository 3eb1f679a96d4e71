"""What algorithms learn from: the base of all kinds of experience."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Protocol

import numpy as np

from rlgraph.core import Component
from rlgraph.experience.fragment import Fragment
from rlgraph.experience.step import VectorStep
from rlgraph.spaces import Dict, Space


@dataclass(frozen=True)
class ExperienceKind:
    """A kind of experience, the options that it shares with the algorithm, and the algorithm's defaults of others.

    Attributes:
        kind: its class.
        shared: names of options that both take; the agent has each of them once.
        defaults: option -> its default; where that is a mapping, one that is given overrides its keys.
    """

    kind: type[Experience]
    shared: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def make(self, options: Mapping[str, Any]) -> Experience:
        """The experience with these options."""
        merged = dict(options)
        for name, default in self.defaults.items():
            given = options.get(name)
            if not isinstance(default, Mapping):
                merged.setdefault(name, default)
            elif given is None or isinstance(given, Mapping | str):
                merged[name] = {**default, **({"type": given} if isinstance(given, str) else given or {})}
        return self.kind(**merged)


class Writer(Protocol):
    """Takes in the steps of one actor. `slots` are those of the rows; None: all in order."""

    def add(self, step: VectorStep, slots: np.ndarray | None = None) -> None:
        """Take in a step of `slots`."""

    def cut(self, slots: Sequence[int] | np.ndarray | None = None) -> None:
        """The episodes of `slots` were cut after their last step."""

    def drop(self, slots: Sequence[int] | np.ndarray | None = None) -> None:
        """Forget the steps of `slots` that wait to become records."""

    def get_state(self) -> Any:
        """Copies of what waits, in nested arrays; None: nothing."""

    def set_state(self, state: Any) -> None:
        """Continue from what `get_state` gave."""


def write_fragment(writer: Writer, fragment: Fragment) -> None:
    """Take in the steps of a fragment, the next of its actor."""
    for step in fragment.steps():
        # An episode that was cut after the last step of a former fragment is marked here alone.
        if len(begun := np.flatnonzero(step.begins)):
            writer.cut(begun)
        writer.add(step)


class Experience(ABC):
    """Turns steps into records, and says when to learn from them.

    With a `memory`, writers insert records and updates draw them. Without one, an update gets the records of fragments:
    those of this process come from `take`.

    Attributes:
        learns: whether updates become due.
        is_recorded: whether it is of others: the agent has no use for steps of its own.
        steps_per_update: environment steps that make an update due.
        is_sequential: whether records are sequences ``[T, N]`` of all slots, each step of which has a row of every
            slot; else they are single ones ``[B]``.
        memory: the component that keeps records; None: there is none.
        is_prioritized: whether the memory draws by priorities, and gives importance weights.
        room: steps that the memory keeps, see `room_for`.
        records_per_step: records of the memory that each step becomes.
        batch_size: number of records that an update draws.
        discount: the factor of the values of next states, where it is the same for all records; None: it is not.
        inserts_steps: whether each step is a record.
        internal_state_interval: every how many steps of a fragment it needs the internal states of recurrent networks;
            None: before the first step.
        max_age: by how many updates the weights that acted may be older than those that are updated; None: by any.
        remembered: the Spaces of what acting remembers for the algorithm, by name; set by the root component.
        batch_options: names of further fields of external batches.
        sequences: what turns records of the memory that are sequences into items; None: they are items.
        state_fields: the fields of a record that are states; the algorithm gets each as observations.
        reward_fields: the fields of a record that are rewards, or sums of these.
    """

    learns: bool = True
    is_recorded: ClassVar[bool] = False
    steps_per_update: float = 0.0
    is_sequential: ClassVar[bool] = False
    memory: Component | None = None
    is_prioritized: bool = False
    room: int = 0
    records_per_step: int = 1
    batch_size: int = 0
    discount: float | None = None
    inserts_steps: bool = False
    internal_state_interval: int | None = None
    max_age: int | None = 0
    remembered: Mapping[str, Space] = MappingProxyType({})
    batch_options: tuple[str, ...] = ()
    sequences: Any = None
    state_fields: tuple[str, ...] = ("states", "next_states")
    reward_fields: tuple[str, ...] = ("rewards",)

    @classmethod
    def of(cls, *shared: str, **defaults: Any) -> ExperienceKind:
        """The kind, for an algorithm that shares these options with it, and has other defaults of some."""
        return ExperienceKind(cls, shared, defaults)

    def suited_to(self, is_recurrent: bool) -> Experience:
        """This experience, or what takes its place for recurrent networks.

        Raises:
            SpecError: it does not suit them, or suits only them.
        """
        return self

    def use_environment(self, env: Any, states: Space, seed: int) -> None:  # noqa: B027  # most kinds need none
        """Take what records need of the environment besides its Spaces.

        Args:
            env: the environment, or its spec; None: nobody knows it yet.
            states: one state, as it gives it.
            seed: root of random numbers.

        Raises:
            SpecError: it does not have that.
        """

    @abstractmethod
    def fields(self, is_recurrent: bool) -> tuple[str, ...]:
        """What a record has besides states and next states."""

    @abstractmethod
    def input_spaces(self, states: Space, actions: Space, beginnings: Dict | None) -> dict[str, Any]:
        """The Spaces of the arguments of the root's API methods that learn.

        Args:
            states, actions: one state as the policy sees it, and one action.
            beginnings: the internal states of recurrent networks; None: there are none.
        """

    @abstractmethod
    def make_writer(self, insert: Callable[..., Any] | None, dtype: str) -> Writer:
        """What takes in the steps of an actor.

        Args:
            insert: puts ``records`` into the memory; None: there is none.
            dtype: of weights.
        """

    def as_data(self, records: Mapping[str, Any]) -> Mapping[str, Any]:
        """Records of steps that were made elsewhere, as the memory keeps them."""
        return records

    @abstractmethod
    def take_due(self, steps: int) -> int:
        """How many updates to do now, after `steps` environment steps in total; 0: none are due.

        A round that is returned counts as done.
        """

    def skip_due(self, steps: int) -> None:  # noqa: B027  # most kinds count nothing
        """The updates that are due after `steps` environment steps in total were done elsewhere."""

    def room_for(self, lengths: Iterable[int]) -> int:
        """The `room` that whole episodes of these lengths need."""
        return sum(lengths)

    def sequences_of(self, environments: int) -> int:
        """The number of sequences in a rollout of this number of environments; 0: records are no sequences."""
        return 0

    def take(self, version: int) -> Fragment:
        """The next fragment, which weights of this version acted.

        Raises:
            InputError: it is not complete.
        """
        raise NotImplementedError

    def records_of(self, fragments: Sequence[Fragment], dtype: str) -> tuple[dict[str, Any], Any]:
        """The records of fragments side by side, and the internal states ``[N, ...]`` before them, or None."""
        raise NotImplementedError

    def records_of_batch(
        self, method: str, columns: dict[str, Any], truncations: np.ndarray, sequence_indices: Any, dtype: str
    ) -> dict[str, Any]:
        """The records of an external batch.

        Args:
            method: named in errors.
            columns: its other fields, of the right dtypes.
            truncations: where rows are truncated.
            sequence_indices: see `Agent.update`.
            dtype: of weights.

        Raises:
            InputError: a shape or index does not fit, or nothing is left.
        """
        raise NotImplementedError

    def counters(self) -> dict[str, Any]:
        """When updates are due; JSON-able."""
        return {}

    def set_counters(self, counters: Mapping[str, Any]) -> None:  # noqa: B027  # most kinds count nothing
        """Take over what `counters` gave."""
