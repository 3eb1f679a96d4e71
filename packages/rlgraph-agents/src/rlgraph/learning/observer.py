"""What users observe, step by step, as steps of the learner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

import numpy as np

from rlgraph.core import InputError
from rlgraph.environments.state_bounds import StateBounds
from rlgraph.experience.environment_slots import ids_in_order, ids_of, is_list
from rlgraph.experience.nested_arrays import row
from rlgraph.experience.pending_steps import PendingSteps, rounds
from rlgraph.experience.step import VectorStep
from rlgraph.experience.step_reader import StepReader
from rlgraph.learning.acting_arguments import as_flag
from rlgraph.learning.external_actor import ExternalActor
from rlgraph.learning.learner import Learner


class Observer:
    """Completes the steps of environments that users name with the states that they led to.

    Args:
        learner: takes in the steps.
        user: what users act with; it preprocesses states.
        reader: checks what is observed.
    """

    def __init__(self, learner: Learner, user: ExternalActor, reader: StepReader):
        self._learner, self._reader = learner, reader
        self._actor, self._environments = user.actor, user.environments
        self._preprocesses = self._actor.preprocesses
        self._is_rollout = learner.experience.is_sequential
        self._remembers = learner.graph.algorithm.behaviour_outputs
        self._waiting = PendingSteps()
        #: What inserts records, where every step is one and nothing else looks at it.
        self._insert: Callable[[Any], Any] | None = None
        if (
            learner.experience.inserts_steps
            and learner.graph.masked is None
            and learner.statistics is None
            and not self._actor.sees_previous
        ):
            self._insert = learner.insert_records
        #: Looks at raw states; the steps of its messages are those of the agent.
        self._bounds = StateBounds(
            reader.raw,
            lambda slot: f"observe: environment {self._environments.names[slot]}",
            lambda slot: learner.steps,
            learner.graph.report_bounds,
        )
        #: Slot -> whether its next step begins an episode, of rollouts.
        self._begins = np.zeros(0, bool)
        self._none = np.zeros(0, bool)

    # Steps.

    def observe(
        self,
        states: Any,
        preprocessed_states: Any,
        actions: Any,
        rewards: Any,
        terminals: Any,
        next_states: Any,
        truncations: Any,
        internals: Any,
        remembered: Any,
        env_id: Any,
        batched: bool,
    ) -> None:
        """Take in the arguments of `Agent.observe`.

        Raises:
            InputError: something is missing, does not fit, or is not finite; nothing is taken in.
        """
        if batched is not True and batched is not False:
            batched = as_flag("observe", "batched", batched)
        extra = internals is None and remembered is None and not self._remembers
        if batched and env_id is None and extra and terminals is not None:
            seen = states if preprocessed_states is None else preprocessed_states
            if states is not None and self._preprocesses:
                is_taken = False
            elif self._insert is not None:
                is_taken = self._insert_plain(seen, actions, rewards, terminals, next_states)
            else:
                is_taken = self._add_plain(seen, actions, rewards, terminals, truncations, next_states)
            if is_taken:
                self._watch(states, next_states, slice(len(rewards)))
                return
        given = {
            "states": states,
            "preprocessed_states": preprocessed_states,
            "actions": actions,
            "rewards": rewards,
            "terminals": terminals,
            "next_states": next_states,
            "truncations": truncations,
        }
        self._observe(given, internals, remembered, env_id, batched)

    def _add_plain(
        self, seen: Any, actions: Any, rewards: Any, terminals: Any, truncations: Any, next_states: Any
    ) -> bool:
        """Take in one step of each environment in order, of arrays as records have them; whether it was so."""
        if truncations is None:
            if len(self._none) != len(rewards):
                self._none = np.zeros(len(rewards), bool)
            truncations = self._none
        if (
            len(self._waiting)
            or not self._reader.are_plain(seen, actions, rewards, terminals, truncations, next_states)
            or len(rewards) > self._environments.in_order
        ):
            return False
        begins = self._none
        if self._is_rollout:
            begins = self._take_begins(np.arange(len(rewards)), terminals | truncations)
        self._learner.add(VectorStep(seen, actions, rewards, terminals, truncations, next_states, begins))
        return True

    def _insert_plain(self, seen: Any, actions: Any, rewards: Any, terminals: Any, next_states: Any) -> bool:
        """Steps that are transitions already: their conversion into records checks all but the rewards."""
        if next_states is None or len(self._waiting) or self._reader.unchecked > 0:
            return False
        # At the least doubt False; a few Python numbers cost less than one call of NumPy's.
        try:
            numbers = rewards.tolist()
            if not isfinite(sum(numbers)) or not self._reader.look_fine(seen, actions, next_states):
                return False
        except (AttributeError, LookupError, TypeError, ValueError):
            return False
        records = {
            "states": seen,
            "actions": actions,
            "rewards": rewards,
            "terminals": terminals,
            "next_states": next_states,
        }
        try:
            self._insert(records)  # type: ignore[misc]
        except InputError:  # what does not fit is told by the path of all
            return False
        self._learner.count_steps(len(numbers))
        return True

    def _observe(
        self, given: Mapping[str, Any], internals: Any, remembered: Any, env_id: Any, batched: bool
    ) -> None:
        columns = self._reader.columns(given, batched)
        recurrent = self._learner.graph.algorithm.internal_states_space
        if recurrent is None and internals is not None and len(internals):
            raise InputError("observe: internals: the policy has no internal states; give None or []")
        if recurrent is not None and not internals:
            raise InputError(f"observe: internals: expected {recurrent!r}, given {internals!r}")
        rows = len(columns["rewards"])
        if recurrent is not None:
            # A column as the others: rows of one environment are consecutive steps, each with its own.
            columns["internal_states"] = self._reader.internals(internals, recurrent, rows, batched)
        if self._remembers or remembered is not None:
            columns["remembered"] = self._reader.remembered("observe", self._remembers, remembered, (rows,))
        is_one = env_id is not None and not is_list(env_id)
        if self._is_rollout and is_list(env_id) and ids_of(env_id) != ids_in_order(rows):
            raise InputError(
                "observe: env_id: expected None, row i of environment i, or the name of a single environment: a "
                f"rollout takes a step of all environments at once; given {env_id!r}"
            )
        slots = self._environments.of(env_id, rows, single=not batched)
        if self._actor.sees_previous:
            self._actor.have_room(int(slots.max()) + 1)
            self._actor.record_rewards(columns["rewards"], slots)
        raw, reached, of_all = columns.get("states"), columns.get("next_states"), slots
        columns = self._preprocessed(columns, slots, batched)
        ends = columns["terminals"] | columns["truncations"]
        if self._is_rollout:
            slots = np.zeros(rows, np.int64) if is_one else np.arange(rows)
        for chosen in rounds(slots):
            begins = self._take_begins(slots[chosen], ends[chosen])
            step = VectorStep(begins=begins, **_rows(columns, chosen))
            for complete, its_slots in self._waiting.add(step, slots[chosen]):
                self._learner.add(complete, its_slots, is_counted=True)
        self._learner.count_steps(rows)
        self._watch(raw, reached, of_all)

    def _watch(self, states: Any, next_states: Any, slots: slice | np.ndarray) -> None:
        """Report what raw states have outside their bounds; preprocessed ones (`states` is None) have none."""
        for each in () if states is None else (states, next_states):
            if each is not None:
                self._bounds.look(each, slots)

    def drop(self, env_id: Any = None) -> None:
        """Throw away what waits of environments (None: all)."""
        slots = self._environments.known(env_id)
        self._put(self._waiting.cut(slots))
        self._learner.drop(slots)
        self._begins[slice(None) if slots is None else slots] = True

    def flush(self, env_id: Any = None) -> None:
        """Cut the running episodes of environments (None: all)."""
        slots = self._environments.known(env_id)
        self._put(self._waiting.cut(slots))
        self._learner.cut(slots)
        self._begins[slice(None) if slots is None else slots] = True

    def _put(self, complete: Any) -> None:
        for step, slots in complete:
            self._learner.add(step, slots, is_counted=True)

    def _take_begins(self, slots: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Where a step of `slots` begins episodes; `ends` says where the next one will."""
        if len(self._begins) <= (last := int(slots.max())):
            self._begins = np.append(self._begins, np.ones(last + 1 - len(self._begins), bool))
        begins = self._begins[slots]
        self._begins[slots] = ends
        return begins

    # Preprocessing.

    def _preprocessed(self, columns: dict[str, Any], slots: np.ndarray, batched: bool) -> dict[str, Any]:
        """`columns` with ``states`` and, where they are known, ``next_states`` as the algorithm sees them."""
        left = {"next_states": None, **columns}
        if "states" in left:
            if self._preprocesses:
                if self._actor.is_stateful:
                    raise InputError(
                        "observe: the preprocessor remembers states, and is to see each of them once: give "
                        "preprocessed_states=, as get_actions(..., extra_returns='preprocessed_states') returns them"
                    )
                left["states"] = self._actor.preprocess(left["states"])
                if left["next_states"] is not None:
                    left["next_states"] = self._actor.preprocess(self._raw(left["next_states"]))
        else:
            left["states"] = left.pop("preprocessed_states")
            left["next_states"] = self._reached(left, slots, batched)
        if left["next_states"] is not None:
            left["next_states"] = self._reader.convert(
                "observe", "next_states", left["next_states"], self._reader.seen
            )
        return left

    def _reached(self, columns: Mapping[str, Any], slots: np.ndarray, batched: bool) -> Any:
        """Next states beside preprocessed states: preprocessed ones, or raw ones where they cannot be mistaken.

        A preprocessor with state is shown the next state of a single step by the next `get_actions`, which then
        completes this step. After a truncation no such call follows, so the state is shown here.
        """
        actor, next_states = self._actor, columns["next_states"]
        is_raw = (
            self._reader.is_raw if batched else lambda states: self._reader.fits(self._reader.raw, states)
        )
        if not actor.preprocesses or (next_states is not None and not is_raw(next_states)):
            return next_states
        if not actor.is_stateful:
            return None if next_states is None else actor.preprocess(self._raw(next_states))
        if batched:
            if next_states is not None:
                raise InputError(
                    "observe: next_states are raw, and the preprocessor remembers states: give what "
                    "preprocess_states(next_states) returns, and the same to the next get_actions"
                )
            return None
        terminal, truncated = bool(columns["terminals"][0]), bool(columns["truncations"][0])
        reached = None
        if next_states is not None and truncated and not terminal:
            reached = actor.preprocess(self._raw(next_states), slots)
        if terminal or truncated:
            actor.reset(slots)
        return reached

    def _raw(self, states: Any) -> Any:
        return self._reader.convert("observe", "next_states", states, self._reader.raw)

    # Checkpoints.

    def get_state(self) -> Any:
        """Copies of what waits; see `set_state`."""
        return {"waiting": self._waiting.get_state(), "begins": self._begins.copy()}

    def set_state(self, state: Any) -> None:
        """Continue from what `get_state` gave."""
        self._waiting.set_state(state.get("waiting"))
        self._begins = state.get("begins", self._begins).copy()


def _rows(columns: Mapping[str, Any], chosen: np.ndarray) -> dict[str, Any]:
    if len(chosen) == len(columns["rewards"]):
        return dict(columns)
    return {name: None if column is None else row(column, chosen) for name, column in columns.items()}
