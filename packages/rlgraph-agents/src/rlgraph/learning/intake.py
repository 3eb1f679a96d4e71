"""What a learner takes in: steps and fragments, which become records."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np

from rlgraph.core import GraphExecutor
from rlgraph.experience.experience import Experience, Writer, write_fragment
from rlgraph.experience.fragment import Fragment, Origin
from rlgraph.experience.step import VectorStep
from rlgraph.learning.agent_graph import AgentGraph
from rlgraph.learning.group import Alone, LearnerGroup
from rlgraph.learning.statistics import Statistics


class MemoryProgram(Protocol):
    """A program that trains an agent, and may have the records of its memory in variables of its own.

    Attributes:
        has_memory: whether it has them now. If not, it takes them for its next call.
    """

    has_memory: bool

    def size(self) -> int:
        """The number of records."""

    def give_back(self) -> None:
        """Copy the records into the agent's memory."""


#: The numbers of this process's own actor, and of whoever acted in data sets.
OWN, DATA = -1, -2


class Intake:
    """Takes in steps of this process and fragments of others: counts them and makes records of them.

    Args:
        graph, executor: of the learner, whose memory keeps the records.
        experience: what makes them.
        statistics: of states and returns; None: there are none.
        group: the learners that take in steps alike.
        dtype: of the records' floats.
    """

    def __init__(
        self,
        graph: AgentGraph,
        executor: GraphExecutor,
        experience: Experience,
        statistics: Statistics | None,
        group: Alone | LearnerGroup,
        dtype: str,
    ):
        self.graph, self.executor, self.experience, self.group = graph, executor, experience, group
        #: What is published besides weights; None: nothing.
        self.statistics = statistics
        #: Environment steps learned from or inserted.
        self.steps = 0
        #: True if the state that was loaded had the same number of learners.
        self.continues_exactly = True
        self._dtype = dtype
        #: Actor -> the origin of its newest fragment.
        self._newest: dict[int, Origin] = {}
        #: Actor -> what turns its steps into records.
        self._writers: dict[int, Writer] = {}
        #: What trains now, if that is a program.
        self.program: MemoryProgram | None = None
        self._giving_back = threading.Lock()
        self._insert_records = None if graph.memory is None else executor.program("insert_records")
        #: What takes in the steps of this process's own actor.
        self._own = self._writer(OWN)

    def copy_memory_back(self, to_write: bool = False) -> None:
        """Copy what a program has of the memory back, ahead of a use of it.

        The caller has a lock that the program needs, or is its thread.

        Args:
            to_write: the memory is written, and the program takes the records again for its next call.
        """
        program = self.program
        if program is not None:
            with self._giving_back:
                if program.has_memory:
                    program.give_back()
                    program.has_memory = not to_write

    def insert_records(self, records: Any) -> Any:
        """Put records into the memory."""
        if self.program is not None:
            self.copy_memory_back(to_write=True)
        return self._insert_records(records)  # type: ignore[misc]

    def add(self, step: VectorStep, slots: np.ndarray | None = None, is_counted: bool = False) -> None:
        """Take in a step of this process.

        Args:
            step: the step.
            slots: the slot of each row; None: all in order.
            is_counted: whether `steps` has its rows already.

        Raises:
            InputError: rollouts need a step of every slot.
        """
        self._own.add(step, slots)
        if self.statistics is not None:
            self.statistics.add(step, OWN, slots)
        if not is_counted:
            valid = step.valid if self.group.size == 1 else None
            self.count_steps(len(step.rewards) if valid is None else int(valid.sum()))

    def count_steps(self, rows: int) -> None:
        """Count steps of this process.

        All learners of a group count alike, invalid rows too: what is due is due on all of them.
        """
        self.steps += rows * self.group.size

    def cut(self, slots: Any = None) -> None:
        """The episodes of this process's `slots` (None: all) were cut after their last step."""
        self._own.cut(slots)
        if self.statistics is not None:
            self.statistics.cut(OWN, slots)

    def drop(self, slots: Any = None) -> None:
        """Forget the steps of this process's `slots` (None: all) that wait to become transitions."""
        self._own.drop(slots)
        if self.statistics is not None:
            self.statistics.cut(OWN, slots)

    def insert_episode(self, steps: Iterable[VectorStep]) -> None:
        """Put the steps of an episode of a data set, of one slot, into the memory; they are not counted."""
        writer = self._writer(DATA)
        for step in steps:
            writer.add(step)
            if self.statistics is not None:
                self.statistics.add(step, DATA)

    @property
    def demonstrations(self) -> int | None:
        """The demonstrations in the memory; None: it does not keep them."""
        if not self.graph.keeps_demonstrations:
            return None
        return int(self.executor.execute("get_number_of_demonstrations"))

    def insert_data(self, records: Mapping[str, Any]) -> None:
        """Put records of steps that were made elsewhere into the memory."""
        self.insert_records(self.experience.as_data(records))

    def _writer(self, actor: int) -> Writer:
        if actor not in self._writers:
            insert = None if self.graph.memory is None else self.insert_records
            insert = self.insert_data if actor == DATA else insert
            self._writers[actor] = self.experience.make_writer(insert, self._dtype)
        return self._writers[actor]

    # Fragments.

    def expect_new_actors(self) -> None:
        """All actors are started anew, and count incarnations and fragments from 0."""
        self._newest = {}

    def is_new(self, origin: Origin) -> bool:
        """Whether a fragment is newer than all of its actor; it counts as seen from now on.

        What an older incarnation sends is not: it was given up.
        """
        newest = self._newest.get(origin.actor)
        if newest is not None and (origin.incarnation, origin.number) <= (newest.incarnation, newest.number):
            return False
        self._newest[origin.actor] = origin
        return True

    def insert(self, fragment: Fragment) -> bool:
        """Put the steps of a fragment into the memory; whether it was new."""
        assert self.graph.memory is not None
        before = self._newest.get(fragment.origin.actor)
        if not self.is_new(fragment.origin):
            return False
        writer = self._writer(fragment.origin.actor)
        if before is not None and before.incarnation != fragment.origin.incarnation:
            writer.drop()
        write_fragment(writer, fragment)
        self.count(fragment)
        return True

    def count(self, fragment: Fragment) -> None:
        """Count the steps of a fragment, whose records are kept here or elsewhere."""
        learners = self.group.size
        self.steps += int(fragment.valid.sum()) if learners == 1 else fragment.valid.size * learners
        if self.statistics is not None:
            for step in fragment.steps():
                self.statistics.add(step, fragment.origin.actor)

    # State.

    def get_state(self) -> dict[str, Any]:
        """What was observed and is not in variables; see `set_state`."""
        writers = {str(actor): writer.get_state() for actor, writer in self._writers.items()}
        newest = {
            str(actor): np.array([origin.incarnation, origin.number])
            for actor, origin in self._newest.items()
        }
        statistics = None if self.statistics is None else self.statistics.get_state()
        return {"writers": writers, "newest": newest, "statistics": statistics}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Continue from what `get_state` gave."""
        # With another number of learners each has other environments.
        waiting_steps = state.get("writers", {}) if self.continues_exactly else {}
        writers = {int(actor): waiting for actor, waiting in waiting_steps.items()}
        for actor in writers.keys() | self._writers.keys():
            self._writer(actor).set_state(writers.get(actor))
        if self.statistics is not None:
            self.statistics.set_state(state.get("statistics", {}))
        newest = state.get("newest", {})
        self._newest = {int(actor): Origin(int(actor), *map(int, at)) for actor, at in newest.items()}
