"""Learners: the updates of an algorithm from its experience."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from rlgraph.components import Optimizer
from rlgraph.core import (
    AssemblyError,
    Collective,
    ExecutionSpec,
    InputError,
    NumericalError,
    default_backend,
    executor_class,
)
from rlgraph.experience.experience import Experience, Writer, write_fragment
from rlgraph.experience.fragment import Fragment, Origin
from rlgraph.experience.messages import pack_message, unpack_message
from rlgraph.experience.step import VectorStep
from rlgraph.learning.actor_spec import ActorSpec
from rlgraph.learning.agent_graph import PER_ITEM
from rlgraph.learning.group import COMPARED_EVERY, Alone, LearnerGroup
from rlgraph.learning.statistics import Statistics
from rlgraph.learning.update_numbers import UpdateNumbers
from rlgraph.spaces import FloatBox, from_spec

#: The numbers of this process's own actor, and of whoever acted in data sets.
OWN, DATA = -1, -2


class Learner:
    """Owns weights, optimizer state and the version of both, and updates them from steps or fragments.

    Args:
        spec: of the actors that it learns from.
        experience: what it learns from.
        backend: name of a backend; default: `rlgraph.core.default_backend`.
        execution_spec: see `rlgraph.core.ExecutionSpec`; seed and dtype are those of `spec`.
        acting: who acts on its weights, see ``act_on`` of `rlgraph.core.ExecutionSpec`.
        collective: its place among learners whose updates are one on the records of all; None: it is alone. In a
            `LearnerGroup`, sizes that are meant for all are divided, and steps of all are counted.
    """

    def __init__(
        self,
        spec: ActorSpec,
        experience: Experience,
        backend: str | None = None,
        execution_spec: ExecutionSpec | None = None,
        acting: str = "backend",
        collective: Collective | None = None,
    ):
        #: The other learners, where they train together.
        self.group = collective if isinstance(collective, LearnerGroup) else Alone()
        self.spec, self.graph = spec, spec.make_graph(experience)
        #: True if the state that was loaded had the same number of learners.
        self.continues_exactly = True
        #: What it learns from.
        self.experience = experience = self.graph.experience
        algorithm, raw, actions = self.graph.algorithm, spec.raw_space, from_spec(spec.action_space)
        #: One state as the algorithm sees it.
        self.state_space = self.graph.seen_space(raw)
        acting_methods = (*self.graph.acting_methods, *self.graph.front_methods)
        spaces = {
            **self.graph.acting_spaces(raw, acting_methods),
            **experience.input_spaces(self.state_space, actions, algorithm.internal_states_space),
        }
        #: Whether updates, and updates from the memory, follow a schedule.
        self._timed = {method: self._is_timed(method) for method in ("update", "update_from_memory")}
        for method in [name for name, is_timed in self._timed.items() if is_timed]:
            spaces[f"{method}.time_percentage"] = FloatBox(0.0, 1.0)
        backend = backend or default_backend()
        self.executor = executor_class(backend)(
            self.graph,
            spaces,
            action_space=actions,
            backend=backend,
            execution_spec=replace(
                execution_spec or ExecutionSpec(),
                seed=spec.seed,
                dtype=spec.dtype,
                acting_methods=acting_methods,
                act_on=acting,
            ),
            collective=collective,
        )
        self._weights = self.executor.flat_weights(self.graph.acting_methods)
        #: Those of the last message.
        self._sent_weights: dict[str, np.ndarray] | None = None
        #: Updates done: the version of the weights.
        self.version = 0
        #: What they returned since the last report.
        self.numbers = UpdateNumbers()
        #: Environment steps learned from or inserted.
        self.steps = 0
        #: Updates that no step made due.
        self._offline = 0
        #: How much of training is done, 0 to 1.
        self.progress = np.zeros((), spec.dtype)
        #: Actor -> the origin of its newest fragment.
        self._newest: dict[int, Origin] = {}
        #: Records of an update from the memory.
        batch_size = experience.batch_size and self.group.share(
            experience.batch_size, "update_spec.batch_size"
        )
        self._batch_size = np.array(batch_size)
        #: Whether records are kept in its memory; else replay shards keep them, and checkpoints do not have it.
        self.keeps_memory = True
        #: Whether the memory is known to hold records.
        self._has_records = False
        #: Actor -> what turns its steps into records.
        self._writers: dict[int, Writer] = {}
        #: What it publishes besides weights; None: nothing.
        self.statistics: Statistics | None = None
        if self.graph.normalize is not None or self.graph.scale_rewards is not None:
            discount = spec.scale_rewards or 0.0
            self.statistics = Statistics(self.graph, self.state_space, discount, collective)
        #: What takes in the steps of this process's own actor.
        self._own = self._writer(OWN)
        self._due = {name: self._interval(name) for name in algorithm.schedule}

    def _is_timed(self, method: str) -> bool:
        if method == "update_from_memory" and self.graph.memory is None:
            return False
        is_timed = self.graph.takes("update", "time_percentage")
        return is_timed or (method == "update_from_memory" and self.experience.is_prioritized)

    def check_environments(self, number: int) -> None:
        """Find out whether updates can learn from this number of environments.

        Raises:
            SpecError: they cannot; says what to change.
        """
        if self.graph.algorithm.recurrent_parts and (sequences := self.experience.sequences_of(number)):
            self.graph.algorithm.check_sequences(sequences)

    # Steps of this process.

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
        self.executor.program("insert_records")(self.experience.as_data(records))

    def update_if_due(self) -> dict[str, float] | None:
        """The updates that the steps have made due; the last one's results, None if none was."""
        results = None
        while number := self.experience.take_due(self.steps):
            if not (self._has_records or self._can_learn()):
                continue
            for _ in range(number):
                results = self._next()
                self._do_what_is_due(("updates",))
            self._do_what_is_due()
        return results

    def _can_learn(self) -> bool:
        """Whether there are records: the first steps may all still wait to become some."""
        memory = self.graph.memory
        self._has_records = memory is None or self.group.all_are(
            int(self.executor.execute("get_memory_size")) > 0
        )
        return self._has_records

    def update_now(self) -> dict[str, float]:
        """One update, due or not.

        Raises:
            InputError: the rollout is not complete, or the memory is empty.
        """
        results = self._next()
        self._do_what_is_due()
        return results

    def update_offline(self) -> dict[str, float]:
        """As `update_now`; what is scheduled by steps follows as many as make an update due."""
        self._offline += 1
        return self.update_now()

    def _next(self) -> dict[str, float]:
        """An update on what the experience has."""
        if self.graph.memory is None:
            return self._update([self.experience.take(self.version)])
        program = self.executor.program("update_from_memory")
        try:
            results = program(self._batch_size, **self._times("update_from_memory"))
        except NumericalError as error:  # priorities go to the memory before anybody sees the loss
            raise NumericalError(
                f"the loss of update {self.version + 1} (step {self.steps}) is not finite: {error}"
            ) from None
        return self._updated(results)

    def update_on(self, records: Mapping[str, Any]) -> dict[str, Any]:
        """One update on records, with ``"importance_weights" [B]`` among them or not.

        Returns:
            Numbers, and ``"loss_per_item" [B]`` if the algorithm returns it.
        """
        metrics, items = self._update_on(records)
        items.pop("priorities", None)
        return {**metrics, **items}

    def update_on_drawn(self, records: Mapping[str, Any]) -> tuple[dict[str, float], np.ndarray]:
        """One update on records that a prioritized memory elsewhere drew, with ``"importance_weights" [B]`` among them.

        Returns:
            Numbers, and the new priorities [B] of the records.
        """
        metrics, items = self._update_on(records)
        return metrics, items["priorities"]

    def _update_on(self, records: Mapping[str, Any]) -> tuple[dict[str, float], dict[str, Any]]:
        """The numbers of an update, and what it says of each item."""
        results = self.executor.program("update")(**self.on_records(records), **self._times("update"))
        items: dict[str, Any] = {}
        if isinstance(results, dict):
            items = {name: results.pop(name) for name in PER_ITEM if name in results}
        metrics = self._updated(results)
        self._do_what_is_due()
        return metrics, items

    def on_records(self, records: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the root's API methods that take records."""
        fields = dict(records)
        weights = fields.pop("importance_weights", None)
        if not self.experience.is_prioritized:
            return {"records": fields}
        if weights is None:
            weights = np.ones(len(fields["rewards"]), self.spec.dtype)
        return {"records": fields, "importance_weights": weights}

    def check_can_learn(self) -> None:
        """Find out whether the backend can do the updates.

        Raises:
            CapabilityError: it cannot; names what it lacks.
        """
        if self.experience.learns:
            self.executor.program("update" if self.graph.memory is None else "update_from_memory")

    def _writer(self, actor: int) -> Writer:
        if actor not in self._writers:
            insert = None if self.graph.memory is None else self.executor.program("insert_records")
            insert = self.insert_data if actor == DATA else insert
            self._writers[actor] = self.experience.make_writer(insert, self.spec.dtype)
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

    def learn_from(self, fragments: Sequence[Fragment]) -> dict[str, float] | None:
        """Take in fragments of one round, in this order, and do the updates that they make due.

        Returns:
            The results of the last update; None if none was due.

        Raises:
            InputError: one is of another version of the weights, which a rollout must not be.
        """
        if self.graph.memory is not None:
            for fragment in fragments:
                self.insert(fragment)
            return self.update_if_due()
        if self.experience.learns:
            return self.update(fragments)
        for fragment in fragments:
            self.count(fragment)
        return None

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

    def update(self, fragments: Sequence[Fragment]) -> dict[str, float]:
        """One update on fragments side by side.

        Raises:
            InputError: one is of weights that are too old (``max_age`` of the experience).
        """
        limit = self.experience.max_age
        for fragment in fragments:
            age = self.version - fragment.version
            if age < 0 or (limit is not None and age > limit):
                most = f"version {self.version}" + (f" or up to {limit} older" if limit else "")
                raise InputError(
                    f"update: expected fragments of the weights of {most}, given version {fragment.version} of actor "
                    f"{fragment.origin.actor}: send it the newest weights"
                )
        for fragment in fragments:
            self.count(fragment)
        results = self._update(fragments)
        self._do_what_is_due()
        return results

    def _update(self, fragments: Sequence[Fragment]) -> dict[str, float]:
        records, beginnings = self.experience.records_of(fragments, self.spec.dtype)
        given = {} if beginnings is None else {"beginnings": beginnings}
        return self._updated(self.executor.program("update")(records, **given, **self._times("update")))

    def _times(self, method: str) -> dict[str, Any]:
        return {"time_percentage": self.progress} if self._timed[method] else {}

    def _updated(self, results: Any) -> dict[str, float]:
        try:
            metrics = {name: float(value) for name, value in results.items()}
            metrics["loss"]
        except (AttributeError, KeyError, TypeError):
            given = results
            if isinstance(results, Mapping):
                given = {name: f"{np.asarray(x).dtype}{list(np.shape(x))}" for name, x in results.items()}
            raise AssemblyError(
                f"{type(self.graph.algorithm).__name__}.update: expected a dict of numbers [] with the key 'loss', "
                f"given {given}"
            ) from None
        for name, value in metrics.items():
            if not isfinite(value):
                raise NumericalError(
                    f"{self.graph.algorithm.scope_path}/{name}: the {name} of update {self.version + 1} (step "
                    f"{self.steps}) is {value}: lower optimizer_spec.learning_rate, set clip_grad_norm, or look for "
                    "rewards and states that are very large"
                )
        self.numbers.add(metrics)
        if self.statistics is not None:
            self.statistics.publish(self.executor)
        self.version += 1
        if self.group.size > 1 and self.version % COMPARED_EVERY == 0:
            self.compare_weights()
        return metrics

    def take_numbers(self) -> dict[str, float]:
        """For a report: the means of what updates returned since the last call, the learning rate, the replay's size.

        Optimizers with different rates have one each, as ``learning_rate/scope``.
        """
        parts, progress = self.graph.algorithm.sub_components.values(), float(self.progress)
        rates = {x.scope: x.learning_rate.value(progress) for x in parts if isinstance(x, Optimizer)}
        numbers = {f"learning_rate/{scope}": rate for scope, rate in rates.items()}
        if len({*rates.values()}) == 1:
            numbers = {"learning_rate": next(iter(rates.values()))}
        if self.graph.memory is not None and self.keeps_memory:
            numbers["replay_size"] = float(self.executor.execute("get_memory_size"))
        return {**numbers, **self.numbers.take()}

    def compare_weights(self) -> None:
        """Find out whether the learners of the group have the same weights.

        Raises:
            CollectiveError: they have not; names the first variable that differs.
        """
        self.group.compare_weights(self.executor.get_weights(), f"update {self.version}")

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
        self._has_records = False  # a checkpoint may come without its memory
        # With another number of learners each has other environments.
        waiting_steps = state.get("writers", {}) if self.continues_exactly else {}
        writers = {int(actor): waiting for actor, waiting in waiting_steps.items()}
        for actor in writers.keys() | self._writers.keys():
            self._writer(actor).set_state(writers.get(actor))
        if self.statistics is not None:
            self.statistics.set_state(state.get("statistics", {}))
        newest = state.get("newest", {})
        self._newest = {int(actor): Origin(int(actor), *map(int, at)) for actor, at in newest.items()}

    def counters(self) -> dict[str, Any]:
        """Version, steps and what is due; JSON-able."""
        own: dict[str, Any] = {"version": self.version, "steps": self.steps, "due": dict(self._due)}
        if self.group.size > 1:
            own["learners"] = self.group.size
        if self._offline:
            own["offline"] = self._offline
        if self.statistics is not None:
            own["statistics"] = self.statistics.counters()
        return {**own, **self.experience.counters()}

    def set_counters(self, counters: Mapping[str, Any]) -> None:
        """Take over what `counters` gave."""
        self.version, self.steps = int(counters["version"]), int(counters["steps"])
        self.continues_exactly = counters.get("learners", 1) == self.group.size
        self._offline = int(counters.get("offline", 0))
        self.experience.set_counters(counters)
        if self.statistics is not None:
            self.statistics.set_counters(counters["statistics"])
        self._due = {name: int(counters["due"][name]) for name in self._due}

    # Schedule.

    def _interval(self, name: str) -> int:
        option, _ = self.graph.algorithm.schedule[name]
        return int(getattr(self.graph.algorithm, option))

    def _do_what_is_due(self, counted: Sequence[str] = ("updates", "steps")) -> None:
        for name, due in self._due.items():
            _, counts = self.graph.algorithm.schedule[name]
            if counts not in counted:
                continue
            done = self.version
            if counts == "steps":
                done = self.steps + int(self._offline * self.experience.steps_per_update)
            if done >= due:
                interval = self._interval(name)
                # The next multiple, so that intervals that do not divide each other keep the rate.
                self._due[name] = (done // interval + 1) * interval
                self.executor.program(name)()

    # Weights.

    @contextmanager
    def acting_on(self, message: bytes) -> Iterator[None]:
        """Acting uses the weights of an earlier `weights_message` inside; nothing else may be done there."""
        present = self._weights.get()
        self._weights.set(unpack_message(message)[1])
        try:
            yield
        finally:
            self._weights.set(present)

    def weights_message(self) -> bytes:
        """What actors need of the weights: the variables that acting reads, their version, and the progress."""
        header = {"version": self.version, "progress": float(self.progress), "digest": self._weights.digest}
        self._sent_weights = self._weights.get(self._sent_weights)
        return pack_message(header, self._sent_weights)
