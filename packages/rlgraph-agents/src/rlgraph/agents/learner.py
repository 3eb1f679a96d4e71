"""Learners: the updates of an algorithm, behind its experience."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from rlgraph.agents.actor_spec import ActorSpec
from rlgraph.agents.agent_graph import PER_ITEM
from rlgraph.agents.experience.fragment import Fragment, Origin
from rlgraph.agents.experience.messages import pack_message
from rlgraph.agents.experience.replay import Replay, ReplayWriter
from rlgraph.agents.experience.rollouts import Rollouts, rollout_records
from rlgraph.agents.experience.step import VectorStep
from rlgraph.components import PrioritizedReplay
from rlgraph.core import (
    AssemblyError,
    ExecutionSpec,
    InputError,
    NumericalError,
    default_backend,
    executor_class,
)
from rlgraph.spaces import FloatBox, from_spec

#: The number of this process's own actor.
OWN = -1


class Learner:
    """Owns weights, optimizer state and the version of both, and updates them from steps or fragments.

    Args:
        spec: of the actors that it learns from.
        experience: `Rollouts` or `Replay`, made from its options.
        backend: name of a backend; default: `rlgraph.core.default_backend`.
        execution_spec: see `rlgraph.core.ExecutionSpec`; seed and dtype are those of `spec`.
        acting: who acts on its weights, see ``act_on`` of `rlgraph.core.ExecutionSpec`.
    """

    def __init__(
        self,
        spec: ActorSpec,
        experience: Rollouts | Replay,
        backend: str | None = None,
        execution_spec: ExecutionSpec | None = None,
        acting: str = "backend",
    ):
        self.spec, self.experience = spec, experience
        self.graph = spec.make_graph(experience)
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
        )
        self._weights = self.executor.flat_weights(self.graph.acting_methods)
        #: Updates done: the version of the weights.
        self.version = 0
        #: Environment steps learned from or inserted.
        self.steps = 0
        #: How much of training is done, 0 to 1.
        self.progress = np.zeros((), spec.dtype)
        #: Actor -> the origin of its newest fragment.
        self._newest: dict[int, Origin] = {}
        #: Whether the memory is known to hold records.
        self._has_records = False
        #: Actor -> what turns its steps into records.
        self._writers: dict[int, ReplayWriter] = {}
        #: What takes in the steps of this process's own actor.
        self._own = experience if isinstance(experience, Rollouts) else self._writer(OWN)
        self._due = {name: self._interval(name) for name in algorithm.schedule}
        self._next_update = 0
        if isinstance(experience, Replay):
            updates = experience.updates
            self._next_update = max(updates.steps_before_update, updates.update_interval)

    def _is_timed(self, method: str) -> bool:
        memory = self.graph.memory
        if method == "update":
            return self.graph.takes("update", "time_percentage")
        return memory is not None and (self._is_timed("update") or isinstance(memory, PrioritizedReplay))

    # Steps of this process.

    def add(self, step: VectorStep) -> None:
        """Take in a step of all of this process's own slots."""
        self._own.add(step)
        self.steps += len(step.rewards) if step.valid is None else int(step.valid.sum())

    def put(self, step: VectorStep, slots: np.ndarray | None = None) -> None:
        """Take in a step that is counted already.

        Args:
            step: the step.
            slots: the slot of each row; None: all in order.

        Raises:
            InputError: rollouts need a step of every slot.
        """
        if isinstance(self._own, ReplayWriter):
            self._own.add(step, slots)
        elif slots is None or np.array_equal(slots, np.arange(len(step.rewards))):
            self._own.add(step)
        else:
            raise InputError(
                "observe: expected a step of all environments at once, row i of environment i: leave out env_id"
            )

    def cut(self, slots: Any = None) -> None:
        """The episodes of this process's `slots` (None: all) were cut after their last step."""
        self._own.cut(slots)

    def drop(self, slots: Any = None) -> None:
        """Forget the steps of this process's `slots` (None: all) that wait to become transitions."""
        if isinstance(self._own, ReplayWriter):
            self._own.drop(slots)

    def update_if_due(self) -> dict[str, float] | None:
        """The updates that the steps have made due; the last one's results, None if none was."""
        if isinstance(self.experience, Rollouts):
            if not self.experience.is_due:
                return None
            return self._update([self.experience.take(self.version)])
        if self.steps < self._next_update:
            return None
        updates, results = self.experience.updates, None
        while updates.do_updates and self.steps >= self._next_update:
            self._next_update += updates.update_interval
            if not (self._has_records or self._can_learn()):
                continue
            for _ in range(updates.update_steps):
                results = self._from_memory()
            self._do_what_is_due()
        return results

    def _can_learn(self) -> bool:
        """Whether the memory holds anything: the first steps may all still wait to become records."""
        self._has_records = int(self.executor.execute("get_memory_size")) > 0
        return self._has_records

    def update_now(self) -> dict[str, float]:
        """One update, due or not.

        Raises:
            InputError: the rollout is not complete, or the memory is empty.
        """
        if isinstance(self.experience, Rollouts):
            return self._update([self.experience.take(self.version)])
        return self.update_from_memory()

    def update_on(self, records: Mapping[str, Any]) -> dict[str, Any]:
        """One update on records, with ``"importance_weights" [B]`` among them or not.

        Returns:
            Numbers, and ``"loss_per_item" [B]`` if the algorithm returns it.
        """
        results = self.executor.program("update")(**self.on_records(records), **self._times("update"))
        items: dict[str, Any] = {}
        if isinstance(results, dict):
            items = {name: results.pop(name) for name in PER_ITEM if name in results}
            items.pop("priorities", None)
        metrics = self._updated(results)
        self._do_what_is_due()
        return {**metrics, **items}

    def on_records(self, records: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the root's API methods that take records."""
        fields = dict(records)
        weights = fields.pop("importance_weights", None)
        if isinstance(self.experience, Rollouts) or not self.experience.is_prioritized:
            return {"records": fields}
        if weights is None:
            weights = np.ones(len(fields["rewards"]), self.spec.dtype)
        return {"records": fields, "importance_weights": weights}

    def check_can_learn(self) -> None:
        """Find out whether the backend can do the updates.

        Raises:
            CapabilityError: it cannot; names what it lacks.
        """
        if isinstance(self.experience, Rollouts):
            if "update" in self.executor.methods:
                self.executor.program("update")
        elif self.experience.updates.do_updates:
            self.executor.program("update_from_memory")

    def _writer(self, actor: int) -> ReplayWriter:
        assert isinstance(self.experience, Replay)
        if actor not in self._writers:
            insert = self.executor.program("insert_records")
            self._writers[actor] = ReplayWriter(self.experience, insert, self.spec.dtype)
        return self._writers[actor]

    # Fragments.

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
        assert isinstance(self.experience, Replay)
        before = self._newest.get(fragment.origin.actor)
        if not self.is_new(fragment.origin):
            return False
        writer = self._writer(fragment.origin.actor)
        if before is not None and before.incarnation != fragment.origin.incarnation:
            writer.drop()
        writer.add_fragment(fragment)
        self.steps += int(fragment.valid.sum())
        return True

    def update_from_memory(self) -> dict[str, float]:
        """One update on records that the memory gives."""
        results = self._from_memory()
        self._do_what_is_due()
        return results

    def _from_memory(self) -> dict[str, float]:
        assert isinstance(self.experience, Replay)
        size = np.array(self.experience.updates.batch_size)
        program = self.executor.program("update_from_memory")
        return self._updated(program(size, **self._times("update_from_memory")))

    def update(self, fragments: Sequence[Fragment]) -> dict[str, float]:
        """One update on fragments side by side.

        Raises:
            InputError: one is of another version of the weights.
        """
        for fragment in fragments:
            if fragment.version != self.version:
                raise InputError(
                    f"update: expected fragments of the weights of version {self.version}, given version "
                    f"{fragment.version} of actor {fragment.origin.actor}: send it the newest weights"
                )
        self.steps += int(sum(fragment.valid.sum() for fragment in fragments))
        return self._update(fragments)

    def _update(self, fragments: Sequence[Fragment]) -> dict[str, float]:
        records, beginnings = rollout_records(fragments, self.spec.dtype)
        given = {} if beginnings is None else {"beginnings": beginnings}
        metrics = self._updated(self.executor.program("update")(records, **given, **self._times("update")))
        self._do_what_is_due()
        return metrics

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
        self.version += 1
        return metrics

    def get_state(self) -> dict[str, Any]:
        """What was observed and is not in variables; see `set_state`."""
        own = self.experience.get_state() if isinstance(self.experience, Rollouts) else None
        writers = {str(actor): writer.get_state() for actor, writer in self._writers.items()}
        newest = {
            str(actor): np.array([origin.incarnation, origin.number])
            for actor, origin in self._newest.items()
        }
        return {"rollouts": own, "writers": writers, "newest": newest}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Continue from what `get_state` gave."""
        self._has_records = False  # a checkpoint may come without its memory
        if isinstance(self.experience, Rollouts):
            self.experience.set_state(state.get("rollouts"))
        for actor, waiting in state.get("writers", {}).items():
            self._writer(int(actor)).set_state(waiting)
        newest = state.get("newest", {})
        self._newest = {int(actor): Origin(int(actor), *map(int, at)) for actor, at in newest.items()}

    def counters(self) -> dict[str, Any]:
        """Version, steps and what is due; JSON-able."""
        counters = {"version": self.version, "steps": self.steps, "next_update": self._next_update}
        return {**counters, "due": dict(self._due)}

    def set_counters(self, counters: Mapping[str, Any]) -> None:
        """Take over what `counters` gave."""
        self.version, self.steps = int(counters["version"]), int(counters["steps"])
        self._next_update = int(counters["next_update"])
        self._due = {name: int(counters["due"][name]) for name in self._due}

    # Schedule.

    def _interval(self, name: str) -> int:
        option, _ = self.graph.algorithm.schedule[name]
        return int(getattr(self.graph.algorithm, option))

    def _do_what_is_due(self) -> None:
        for name, due in self._due.items():
            _, counts = self.graph.algorithm.schedule[name]
            done = self.steps if counts == "steps" else self.version
            if done >= due:
                interval = self._interval(name)
                # The next multiple, so that intervals that do not divide each other keep the rate.
                self._due[name] = (done // interval + 1) * interval
                self.executor.program(name)()

    # Weights.

    def weights_message(self) -> bytes:
        """What actors need of the weights: the variables that acting reads, their version, and the progress."""
        header = {"version": self.version, "progress": float(self.progress), "digest": self._weights.digest}
        return pack_message(header, self._weights.get())
