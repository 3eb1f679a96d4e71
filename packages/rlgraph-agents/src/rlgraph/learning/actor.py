"""Actors: what acts, alone or beside a learner, with one row of state per environment slot."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from rlgraph.core import GraphExecutor, InputError, RandomStreams
from rlgraph.experience.messages import unpack_message
from rlgraph.experience.nested_arrays import map_arrays, row
from rlgraph.learning.acting_arguments import as_flag
from rlgraph.learning.agent_graph import AgentGraph
from rlgraph.spaces import Space


class Actor:
    """Acts in N slots, each of which has a row in a table of states: frame stacks, recurrent networks, noise.

    Actors of one executor share weights and plans; each has a table of its own, so that an evaluation or another
    thread never disturbs training.

    Args:
        executor: of the graph.
        graph: the root component.
        state_space: one raw state.
        slots: N.
        streams: what it draws from; None: the executor's own streams, which its checkpoints keep.
        learns: whether layers of the preprocessor learn from the states that it sees.
    """

    def __init__(
        self,
        executor: GraphExecutor,
        graph: AgentGraph,
        state_space: Space,
        slots: int = 1,
        streams: RandomStreams | None = None,
        learns: bool = False,
    ):
        #: What it draws from; None: from the executor's own streams.
        self.streams = streams
        methods, learns = graph.acting_methods, as_flag("new_actor", "learns", learns)
        self._programs = {method: executor.program(method, streams) for method in methods}
        self._preprocess_frozen = self._programs.get("preprocess_frozen", self._programs.get("preprocess"))
        self._preprocess = self._programs.get("preprocess") if learns else self._preprocess_frozen
        # With streams of its own every call of `program` links another one.
        self._program_with_extras = cache(lambda method: executor.program(f"{method}_with_extras", streams))
        self._timed = [method for method in ("act", "act_greedily") if graph.takes(method, "progress")]
        self._space = graph.table_space(state_space)
        #: The states, raw and as the algorithm sees them, if a part of them is a mask.
        self.masked, self.policy_input_mask = graph.masked, graph.policy_input.mask
        self._dtype = executor.execution.dtype
        #: The root component.
        self.graph, self._previous_steps = graph, graph.previous
        self._weights = executor.flat_weights(methods)
        self.progress = np.zeros((), self._dtype)
        #: Version of the weights.
        self.version = 0
        self.resize(slots)

    @property
    def progress(self) -> np.ndarray:
        """How much of training is done []; schedules follow it."""
        return self._progress

    @progress.setter
    def progress(self, given: np.ndarray) -> None:
        self._progress = given
        #: Acting method -> the arguments that follow the schedule.
        self._times: dict[str, dict[str, Any]] = {"act": {}, "act_greedily": {}}
        self._times |= {method: {"progress": given} for method in self._timed}
        #: Whether to explore -> the program that acts, and these arguments.
        self._acting = {
            method == "act": (self._programs[method], arguments) for method, arguments in self._times.items()
        }

    def resize(self, slots: int) -> None:
        """Have this number of slots; all of them begin."""
        self.slots = slots
        table = {} if self._space is None else self._space.zeros(slots)
        self._table: dict[str, Any] = map_arrays(self._as_float, table)
        self._stack = self._table.pop("preprocessor", None)
        #: Action and reward of the step before, a part of the next states [N, K]; None: they are not.
        self._previous: Any = None
        if self._previous_steps is not None:
            self._previous = np.zeros((slots, self._previous_steps.size), self._dtype)
        #: Whether nothing of a step is kept for later ones.
        self._keeps_nothing = (
            not self._table and self._previous is None and not self.graph.algorithm.behaviour_outputs
        )
        #: What the algorithm remembers of the last step [N, ...] by name; None: nothing, or it acted greedily.
        self.remembered: Any = None

    def have_room(self, slots: int) -> None:
        """Have at least this number of slots; those that are there keep their rows."""
        if slots <= self.slots:
            return
        table, stack, previous, rows = self._table, self._stack, self._previous, slice(self.slots)
        self.resize(slots)
        self._table = with_rows(self._table, rows, table)
        self._stack = with_rows(self._stack, rows, stack)
        self._previous = with_rows(self._previous, rows, previous)

    @property
    def has_table(self) -> bool:
        """Whether it keeps any state per slot."""
        return bool(self._table) or self.is_stateful

    def _as_float(self, array: np.ndarray) -> np.ndarray:
        return array.astype(self._dtype) if array.dtype.kind == "f" else array

    @property
    def internal_states(self) -> dict[str, Any] | None:
        """The states of recurrent networks ``[N, ...]``, by part; None: there are none."""
        return self._table or None

    def internal_states_of(self, slots: Any) -> dict[str, Any] | None:
        """`internal_states` of some slots, one per row; None: of all."""
        return self.internal_states if slots is None or not self._table else row(self._table, slots)

    @property
    def preprocesses(self) -> bool:
        """Whether the algorithm sees other states than raw ones."""
        return self._preprocess is not None or self.sees_previous

    @property
    def is_stateful(self) -> bool:
        """Whether what the algorithm sees of a state depends on those before it."""
        return self._stack is not None or self.sees_previous

    @property
    def sees_previous(self) -> bool:
        """Whether states come with the action and the reward of the step before; see `rewarded`."""
        return self._previous is not None

    def preprocess(self, states: Any, slots: Any = None, learns: bool = True) -> Any:
        """What the algorithm sees of raw ``states [N, ...]``, the newest of each slot.

        Args:
            states: one per slot.
            slots: the slot of each row; None: all in order.
            learns: whether the layers of an actor that learns may learn from these states.
        """
        seen = self._preprocessed(states, slots, learns)
        if self._previous is None:
            return seen
        return self.graph.policy_input.with_previous(
            seen, self._previous if slots is None else self._previous[slots]
        )

    def _preprocessed(self, states: Any, slots: Any, learns: bool) -> Any:
        program = self._preprocess if learns else self._preprocess_frozen
        if program is None:
            return states
        if self._stack is None:
            return program(states)["states"]
        if slots is None:
            results = program(states, self._stack)
            self._stack = results["internal_states"]
        else:
            results = program(states, row(self._stack, slots))
            self._stack = with_rows(self._stack, slots, results["internal_states"])
        return results["states"]

    def act(self, states: Any, use_exploration: bool = True, slots: Any = None) -> Any:
        """Actions ``[N, ...]`` for states as `see` gives them; row i is in slot ``slots[i]``, default: i.

        Raises:
            InputError: the states do not fit their Space, or their number the slots.
        """
        if use_exploration is not True and use_exploration is not False:
            use_exploration = as_flag("act", "use_exploration", use_exploration)
        program, arguments = self._acting[use_exploration]
        if self._keeps_nothing:
            return program(states, **arguments)["actions"]
        return self._acted(program, arguments, states, slots)["actions"]

    def act_with_extras(
        self, states: Any, use_exploration: bool = True, slots: Any = None
    ) -> tuple[Any, dict[str, Any]]:
        """As `act`, and what else the algorithm returned, from the same draws."""
        method = "act" if as_flag("act", "use_exploration", use_exploration) else "act_greedily"
        results = self._acted(self._program_with_extras(method), self._times[method], states, slots)
        return results["actions"], results["extras"]

    def _acted(self, program: Any, arguments: dict[str, Any], states: Any, slots: Any) -> dict[str, Any]:
        """The results of an acting program, whose internal states go into the table."""
        if not self._table:
            results: dict[str, Any] = program(states, **arguments)
        elif slots is None:
            results = program(states, self._table, **arguments)
            self._table = results["internal_states"]
        else:
            results = program(states, row(self._table, slots), **arguments)
            self._table = with_rows(self._table, slots, results["internal_states"])
        self.remembered = results.get("remembered")
        if self._previous_steps is not None:
            after = self._previous_steps.after(results["actions"], self._dtype)
            self._previous = after if slots is None else with_rows(self._previous, slots, after)
        return results

    def record_actions(self, actions: Any) -> None:
        """Take in ``actions [N, ...]`` that others did in place of `act`, where they are a part of the next states."""
        if self._previous_steps is not None:
            self._previous = self._previous_steps.after(actions, self._dtype)

    def record_rewards(self, rewards: Any, slots: Any = None) -> None:
        """Take in ``rewards [N]`` of the last actions, where they are a part of the next states.

        Args:
            rewards: one per row.
            slots: the slot of each row; None: all in order.
        """
        if self._previous is not None:
            self._previous = self._previous.copy()
            self._previous[slice(None) if slots is None else slots, -1] = rewards

    def reset(self, slots: Any = None) -> None:
        """Episodes begin in these slots (None: all): their rows become zero."""
        rows = slice(None) if slots is None else slots
        self._table = with_rows(self._table, rows, 0)
        self._stack = with_rows(self._stack, rows, 0)
        self._previous = with_rows(self._previous, rows, 0)

    def set_weights(self, message: bytes | memoryview) -> None:
        """Take over the weights of a learner's message (see `Learner.weights_message`).

        Raises:
            InputError: it is not such a message, or of another algorithm; nothing is changed.
        """
        header, arrays = unpack_message(message)
        if header.get("digest") != self._weights.digest:
            raise InputError(
                f"weights: expected the layout {self._weights.digest}, given {header.get('digest')}: the learner has "
                "another algorithm, other options or other Spaces"
            )
        self._weights.set(arrays)
        self.version = int(header["version"])
        self.progress[()] = header["progress"]

    def get_state(self) -> Any:
        """Copies of the table; see `set_state`."""
        held = {"internal_states": self._table, "preprocessor": self._stack, "previous": self._previous}
        return map_arrays(np.copy, held)

    def set_state(self, state: Any) -> None:
        """Continue from what `get_state` gave."""
        self._table = map_arrays(np.copy, state.get("internal_states") or {})
        self._stack = map_arrays(np.copy, state.get("preprocessor"))
        self._previous = map_arrays(np.copy, state.get("previous"))


def with_rows(table: Any, slots: Any, values: Any) -> Any:
    """A copy of `table` in which the rows of `slots` are `values`; older tables may still be in use."""
    if table is None:
        return None

    def changed(held: np.ndarray, given: Any = 0) -> np.ndarray:
        held = held.copy()
        held[slots] = given
        return held

    return map_arrays(changed, table) if isinstance(values, int) else map_arrays(changed, table, values)
