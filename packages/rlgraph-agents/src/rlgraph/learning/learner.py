"""Learners: the updates of an algorithm from its experience."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from rlgraph.components import Optimizer
from rlgraph.core import (
    Collective,
    ExecutionSpec,
    InputError,
    NumericalError,
    default_backend,
    executor_class,
)
from rlgraph.experience.experience import Experience
from rlgraph.experience.fragment import Fragment
from rlgraph.experience.messages import pack_message, unpack_message
from rlgraph.learning.actor_spec import ActorSpec
from rlgraph.learning.agent_graph import PER_ITEM
from rlgraph.learning.group import COMPARED_EVERY, Alone, LearnerGroup
from rlgraph.learning.intake import OWN, Intake
from rlgraph.learning.statistics import Statistics
from rlgraph.learning.update_numbers import UpdateNumbers, checked_numbers
from rlgraph.spaces import FloatBox, from_spec


class Learner(Intake):
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
        group = collective if isinstance(collective, LearnerGroup) else Alone()
        self.spec, graph = spec, spec.make_graph(experience)
        algorithm, raw, actions = graph.algorithm, spec.raw_space, from_spec(spec.action_space)
        #: One state as the algorithm sees it.
        self.state_space = graph.policy_input.space(raw)
        acting_methods = (*graph.acting_methods, *graph.front_methods)
        spaces = {
            **graph.acting_spaces(raw, acting_methods),
            **graph.experience.input_spaces(self.state_space, actions, algorithm.internal_states_space),
        }
        #: Whether updates, and updates from the memory, follow a schedule.
        self._timed = {"update": graph.takes("update", "progress"), "update_from_memory": False}
        if graph.memory is not None:
            self._timed["update_from_memory"] = self._timed["update"] or graph.experience.is_prioritized
        for method in [name for name, is_timed in self._timed.items() if is_timed]:
            spaces[f"{method}.progress"] = FloatBox(0.0, 1.0)
        backend = backend or default_backend()
        executor = executor_class(backend)(
            graph,
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
        statistics = None
        if graph.normalize is not None or graph.scale_rewards is not None:
            statistics = Statistics(graph, self.state_space, spec.scale_rewards or 0.0, collective)
        super().__init__(graph, executor, graph.experience, statistics, group, spec.dtype)
        self._weights = executor.flat_weights(graph.acting_methods)
        #: Those of the last message.
        self._sent_weights: dict[str, np.ndarray] | None = None
        #: Updates done: the version of the weights.
        self.version = 0
        #: What they returned since the last report.
        self.numbers = UpdateNumbers()
        #: Updates that no step made due.
        self._offline = 0
        #: How much of training is done, 0 to 1.
        self.progress = np.zeros((), spec.dtype)
        #: Records of an update from the memory.
        size = self.experience.batch_size
        self._batch_size = np.array(size and group.share(size, "update_spec.batch_size"))
        #: Whether records are kept in its memory; else replay shards keep them, and checkpoints do not have it.
        self.keeps_memory = True
        #: Whether the memory is known to hold records.
        self._has_records = False
        self._due = {name: self._interval(name) for name in algorithm.schedule}

    def check_environments(self, number: int) -> None:
        """Find out whether updates can learn from this number of environments.

        Raises:
            SpecError: they cannot; says what to change.
        """
        if self.graph.algorithm.recurrent_parts and (sequences := self.experience.sequences_of(number)):
            self.graph.algorithm.check_sequences(sequences)

    def update_if_due(self) -> dict[str, float] | None:
        """The updates that the steps have made due; the last one's results, None if none was."""
        results = None
        while number := self.experience.take_due(self.steps):
            if not (self._has_records or self._can_learn()):
                continue
            for _ in range(number):
                results = self._from_experience()
                self._do_what_is_due(("updates",))
            self._do_what_is_due()
        return results

    def _can_learn(self) -> bool:
        """Whether there are records: the first steps may all still wait to become some."""
        memory = self.graph.memory
        self.copy_memory_back()
        self._has_records = memory is None or self.group.all_are(
            int(self.executor.execute("get_memory_size")) > 0
        )
        return self._has_records

    def update(self, offline: bool = False) -> dict[str, float]:
        """One update from the experience, due or not.

        Args:
            offline: no step of the agent's own makes updates due: what is scheduled by steps follows as many as would.

        Raises:
            InputError: the rollout is not complete, or the memory is empty.
        """
        self._offline += offline
        results = self._from_experience()
        self._do_what_is_due()
        return results

    def update_from_batch(self, records: Mapping[str, Any]) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """One update from records, with ``"importance_weights" [B]`` among them or not.

        Returns:
            Numbers; and what the algorithm returns of ``"loss_per_item" [B]`` and ``"priorities" [B]``.
        """
        results = self._run("update", **self.on_records(records))
        per_item = [name for name in PER_ITEM if name in results] if isinstance(results, dict) else []
        items = {name: results.pop(name) for name in per_item}
        numbers = self._learned(results)
        self._do_what_is_due()
        return numbers, items

    def count_program(
        self, steps: int, updates: int, results: Any, seen: Mapping[str, Any]
    ) -> dict[str, float]:
        """Count steps and updates that a program has done; the numbers, which are means over these updates."""
        if self.statistics is not None:
            self.statistics.add_steps(seen, OWN)
        self.count_steps(steps)
        self.experience.skip_due(self.steps)
        if not updates:
            return {}
        numbers = self._learned(results, updates)
        self._do_what_is_due()
        return numbers

    def _from_experience(self) -> dict[str, float]:
        """An update from what the experience has."""
        if self.graph.memory is None:
            return self._from_fragments([self.experience.take(self.version)])
        self.copy_memory_back()
        try:
            results = self._run("update_from_memory", self._batch_size)
        except NumericalError as error:  # priorities go to the memory before anybody sees the loss
            raise NumericalError(
                f"the loss of update {self.version + 1} (step {self.steps}) is not finite: {error}"
            ) from None
        return self._learned(results)

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

    def learn_from(self, fragments: Sequence[Fragment]) -> dict[str, float] | None:
        """Take in fragments of one round, in this order, and do the updates that they make due.

        Returns:
            The results of the last update; None if none was due.

        Raises:
            InputError: a rollout is of weights that are too old (``max_age`` of the experience).
        """
        if self.graph.memory is not None:
            for fragment in fragments:
                self.insert(fragment)
            return self.update_if_due()
        if self.experience.learns:
            self._check_age(fragments)
            for fragment in fragments:
                self.count(fragment)
            results = self._from_fragments(fragments)
            self._do_what_is_due()
            return results
        for fragment in fragments:
            self.count(fragment)
        return None

    def _check_age(self, fragments: Sequence[Fragment]) -> None:
        limit = self.experience.max_age
        for fragment in fragments:
            age = self.version - fragment.version
            if age < 0 or (limit is not None and age > limit):
                most = f"version {self.version}" + (f" or up to {limit} older" if limit else "")
                raise InputError(
                    f"update: expected fragments of the weights of {most}, given version {fragment.version} of actor "
                    f"{fragment.origin.actor}: send it the newest weights"
                )

    def _from_fragments(self, fragments: Sequence[Fragment]) -> dict[str, float]:
        """An update from fragments side by side."""
        records, beginnings = self.experience.records_of(fragments, self.spec.dtype)
        given = {} if beginnings is None else {"beginnings": beginnings}
        return self._learned(self._run("update", records, **given))

    def _run(self, method: str, *given: Any, **named: Any) -> Any:
        """What an API method that learns returns."""
        times = {"progress": self.progress} if self._timed[method] else {}
        return self.executor.program(method)(*given, **named, **times)

    def _learned(self, results: Any, updates: int = 1) -> dict[str, float]:
        """The numbers of an update, or the means over several, which are counted."""
        first, last = self.version + 1, self.version + updates
        named = f"update {first}" if updates == 1 else f"one of the updates {first} to {last}"
        numbers = checked_numbers(self.graph.algorithm, results, f"{named} (step {self.steps})")
        self.numbers.add(numbers)
        if self.statistics is not None:
            self.statistics.publish(self.executor)
        self.version = last
        if self.group.size > 1 and self.version % COMPARED_EVERY == 0:
            self.compare_weights()
        return numbers

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
            program = self.program if self.program and self.program.has_memory else None
            size = program.size() if program else self.executor.execute("get_memory_size")
            numbers["replay_size"] = float(size)
        return {**numbers, **self.numbers.take()}

    def compare_weights(self) -> None:
        """Find out whether the learners of the group have the same weights.

        Raises:
            CollectiveError: they have not; names the first variable that differs.
        """
        self.group.compare_weights(self.executor.get_weights(), f"update {self.version}")

    def set_state(self, state: Mapping[str, Any]) -> None:
        self._has_records = False  # a checkpoint may come without its memory
        super().set_state(state)

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

    def take_due(self, updates: int, steps: int, counted: Sequence[str] = ("updates", "steps")) -> list[str]:
        """The scheduled methods that are due at these counts; each is due next at a later one."""
        names = []
        for name, due in self._due.items():
            _, counts = self.graph.algorithm.schedule[name]
            if counts not in counted:
                continue
            done = updates
            if counts == "steps":
                done = steps + int(self._offline * self.experience.steps_per_update)
            if done >= due:
                interval = self._interval(name)
                # The next multiple, so that intervals that do not divide each other keep the rate.
                self._due[name] = (done // interval + 1) * interval
                names.append(name)
        return names

    def _do_what_is_due(self, counted: Sequence[str] = ("updates", "steps")) -> None:
        for name in self.take_due(self.version, self.steps, counted):
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

    def policy_weights(self) -> dict[str, np.ndarray]:
        """Copies of what `weights_message` sends, by scoped name."""
        weights = self.executor.get_weights()
        return {name: weights[name] for name in self._weights.names}

    def weights_message(self) -> bytes:
        """What actors need of the weights: the variables that acting reads, their version, and the progress."""
        header = {"version": self.version, "progress": float(self.progress), "digest": self._weights.digest}
        self._sent_weights = self._weights.get(self._sent_weights)
        return pack_message(header, self._sent_weights)
