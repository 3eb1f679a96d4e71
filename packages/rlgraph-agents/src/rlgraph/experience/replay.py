"""Replay: transitions in a memory, learned from many times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rlgraph.components import Memory, PrioritizedReplay, ReplayMemory, SequenceReplay
from rlgraph.components.common.argument_checks import check_number
from rlgraph.core import InputError, SpecError
from rlgraph.core.specs.spec_types import ComponentSpec
from rlgraph.experience.experience import Experience, Writer
from rlgraph.experience.hindsight import Hindsight, HindsightWriter
from rlgraph.experience.n_step import NStepWindows, check_consecutive, n_step_transitions
from rlgraph.experience.sequence_indices import fragment_ends
from rlgraph.experience.specs import HindsightSpec, UpdateSpec, parse_spec
from rlgraph.experience.step import VectorStep
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Space

#: What a record has besides states and next states; with one reward there is one discount for all.
FIELDS = ("actions", "rewards", "terminals")


class Replay(Experience):
    """A memory of transitions ``[B, ...]``: ``states, actions, rewards, terminals, next_states, discounts``.

    ``discounts``, the factors of the values of the next states, are kept where `n_step` is above 1.

    Args:
        discount: discount factor of one step.
        n_step: number of rewards of a transition.
        memory_spec: the memory, e.g. ``{"type": "prioritized_replay", "capacity": 50000}``; default: `replay_memory` of
            10,000 steps, for recurrent networks `sequence_replay` of as many.
        update_spec: when to learn; see `UpdateSpec`.
        hindsight_spec: of environments with goals: each step is also kept with goals that its episode achieved; see
            `HindsightSpec`. ``{}``: with four that it achieved later.
    """

    def __init__(
        self,
        *,
        discount: float = 0.99,
        n_step: int = 1,
        memory_spec: ComponentSpec = None,
        update_spec: UpdateSpec | Mapping[str, Any] | None = None,
        hindsight_spec: HindsightSpec | Mapping[str, Any] | None = None,
    ):
        if isinstance(n_step, bool) or not isinstance(n_step, int) or n_step < 1:
            raise SpecError(f"expected an integer >= 1, given {n_step!r}", path="n_step")
        self.discount: float = check_number(discount, "discount", least=0, most=1)
        self.n_step = n_step
        self.updates = parse_spec(UpdateSpec, update_spec, "update_spec")
        self._memory_spec = memory_spec
        #: None until `suited_to` chooses it, where the spec names none.
        self.memory = _memory(memory_spec) if _has_type(memory_spec) else None
        self.is_prioritized = isinstance(self.memory, PrioritizedReplay)
        self.learns, self.batch_size = self.updates.do_updates, self.updates.batch_size
        self.steps_per_update = self.updates.update_interval / self.updates.update_steps
        self.hindsight = None if hindsight_spec is None else Hindsight(hindsight_spec, n_step)
        self.inserts_steps = n_step == 1 and self.hindsight is None
        self.batch_options = ("discounts",) * (n_step > 1) + ("importance_weights",) * self.is_prioritized
        self._next_update = max(self.updates.steps_before_update, self.updates.update_interval)

    def suited_to(self, is_recurrent: bool) -> Replay:
        """With a memory of transitions; for recurrent networks one of sequences."""
        if self.memory is None:
            kind = "sequence_replay" if is_recurrent else "replay_memory"
            self.memory = _memory({"type": kind, "capacity": 10_000, **(self._memory_spec or {})})
        if is_recurrent != isinstance(self.memory, SequenceReplay):
            expected, has = ("'sequence_replay'", "has") if is_recurrent else ("one of transitions", "has no")
            raise SpecError(
                f"expected {expected}, since network_spec {has} recurrent layers, given a "
                f"{type(self.memory).__name__}",
                path="memory_spec.type",
            )
        self.room = self.memory.capacity  # type: ignore[attr-defined]
        if self.hindsight is not None:
            self.hindsight.check_suits(is_recurrent)
            self.records_per_step = 1 + self.hindsight.goals
            self.room //= self.records_per_step
        return self

    def use_environment(self, env: Any, states: Space, seed: int) -> None:
        if self.hindsight is not None:
            self.hindsight.use_environment(env, states, seed)

    def options_of_shard(self, count: int) -> dict[str, Any]:
        """The options of a replay that keeps one of `count` parts of what this one keeps.

        Raises:
            SpecError: the memory was given as an object, of which there is one, or records get other goals.
        """
        if self.hindsight is not None:
            raise SpecError(
                "expected none with replay shards: they have no environment, whose compute_reward judges other goals; "
                "take the executor sync_batch",
                path="hindsight_spec",
            )
        given = {"type": self._memory_spec} if isinstance(self._memory_spec, str) else self._memory_spec or {}
        if not isinstance(given, Mapping):
            raise SpecError(
                f"expected a mapping, so that there may be several, given {given!r}", path="memory_spec"
            )
        memory = {**given, "capacity": -(-self.room // count)}
        return {"discount": self.discount, "n_step": self.n_step, "memory_spec": memory}

    def fields(self, is_recurrent: bool) -> tuple[str, ...]:
        return (*FIELDS, "discounts") if self.n_step > 1 else FIELDS

    def input_spaces(self, states: Space, actions: Space, beginnings: Dict | None) -> dict[str, Any]:
        assert beginnings is None
        if self.hindsight is not None:
            self.hindsight.check_seen(states)
        fields = {"states": states, "next_states": states, "actions": actions}
        fields |= {"rewards": FloatBox(), "terminals": BoolBox()}
        if self.n_step > 1:
            fields["discounts"] = FloatBox()
        records = Dict(fields, add_batch_rank=True)
        spaces: dict[str, Any] = {"records": records, "num_records": IntBox(1, None)}
        if self.is_prioritized:
            spaces["importance_weights"] = FloatBox(add_batch_rank=True)
        return spaces

    def make_writer(self, insert: Callable[..., Any] | None, dtype: str) -> Writer:
        assert insert is not None
        writer = ReplayWriter(self, insert, dtype)
        return (
            writer if self.hindsight is None else HindsightWriter(self.hindsight, writer, insert, self.room)
        )

    def make_windows(self, dtype: str) -> NStepWindows | None:
        """What sums up rewards; None: each step is a transition."""
        return NStepWindows(self.n_step, self.discount, dtype) if self.n_step > 1 else None

    def take_due(self, steps: int) -> int:
        if not self.learns or steps < self._next_update:
            return 0
        self._next_update += self.updates.update_interval
        return self.updates.update_steps

    def skip_due(self, steps: int) -> None:
        interval = self.updates.update_interval
        self._next_update = max(self._next_update, (steps // interval + 1) * interval)

    def records_of_batch(
        self, method: str, columns: dict[str, Any], truncations: np.ndarray, sequence_indices: Any, dtype: str
    ) -> dict[str, Any]:
        """Transitions ``[B]``; fragments become transitions of up to `n_step` steps."""
        if sequence_indices is None:
            if self.n_step > 1 and "discounts" not in columns:
                columns["discounts"] = np.full_like(columns["rewards"], self.discount**self.n_step)
            return columns
        ends = fragment_ends(method, sequence_indices, len(truncations)) | truncations
        if self.n_step > 1:
            check_consecutive(method, columns, ends)
        columns = n_step_transitions(columns, ends, self.n_step, self.discount)
        if not len(columns["rewards"]):
            raise InputError(
                f"{method}: no row of the batch has a next state: give next_states, or longer fragments"
            )
        return columns

    def counters(self) -> dict[str, Any]:
        episodes = {} if self.hindsight is None else {"hindsight_episodes": self.hindsight.episodes}
        return {"next_update": self._next_update, **episodes}

    def set_counters(self, counters: Mapping[str, Any]) -> None:
        self._next_update = int(counters["next_update"])
        if self.hindsight is not None:
            self.hindsight.episodes = int(counters.get("hindsight_episodes", 0))


class ReplayWriter:
    """Turns the steps of one actor into transitions and inserts them.

    Args:
        replay: the experience.
        insert: takes ``records``, a dict of fields ``[B, ...]``.
        dtype: of rewards and discounts.
    """

    def __init__(self, replay: Replay, insert: Callable[..., Any], dtype: str):
        self._insert = insert
        self._windows = replay.make_windows(dtype)

    def add(self, step: VectorStep, slots: np.ndarray | None = None) -> None:
        """Take in a step of `slots`, one per row; None: of all in order."""
        if self._windows is not None:
            for transitions in self._windows.add(step, slots):
                self._insert(transitions._asdict())
            return
        if step.valid is not None:
            step = step.of_rows(np.flatnonzero(step.valid))
            if not len(step.rewards):
                return
        self._insert(
            {
                "states": step.states,
                "actions": step.actions,
                "rewards": step.rewards,
                "terminals": step.terminals,
                "next_states": step.next_states,
            }
        )

    def cut(self, slots: Sequence[int] | np.ndarray | None = None) -> None:
        """The episodes of `slots` (None: all) were cut after their last step."""
        if self._windows is not None:
            for transitions in self._windows.cut(slots):
                self._insert(transitions._asdict())

    def drop(self, slots: Sequence[int] | np.ndarray | None = None) -> None:
        """Forget the steps of `slots` (None: all) that wait."""
        if self._windows is not None:
            self._windows.drop(slots)

    def get_state(self) -> Any:
        """Copies of what waits; see `set_state`."""
        return None if self._windows is None else self._windows.get_state()

    def set_state(self, state: Any) -> None:
        """Continue from what `get_state` gave."""
        if self._windows is not None:
            self._windows.set_state(state)


def _memory(spec: Any) -> ReplayMemory | PrioritizedReplay:
    memory = Memory.from_spec(spec, path="memory_spec")
    if not isinstance(memory, ReplayMemory | PrioritizedReplay):
        raise SpecError(
            "expected 'replay_memory' or 'prioritized_replay', which give records one by one, given "
            f"a {type(memory).__name__}",
            path="memory_spec.type",
        )
    return memory


def _has_type(spec: Any) -> bool:
    """Whether a memory spec says which memory it is."""
    return spec is not None and not (isinstance(spec, dict) and "type" not in spec)
