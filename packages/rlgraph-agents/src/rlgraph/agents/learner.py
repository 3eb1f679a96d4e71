"""Learners: the updates of an algorithm, behind its experience."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from rlgraph.agents.actor_spec import ActorSpec
from rlgraph.agents.experience.fragment import Fragment, Origin
from rlgraph.agents.experience.messages import pack_message
from rlgraph.agents.experience.replay import Replay, ReplayWriter
from rlgraph.agents.experience.rollouts import Rollouts, rollout_records
from rlgraph.core import InputError, NumericalError, executor_class
from rlgraph.spaces import from_spec


class Learner:
    """Owns weights, optimizer state and the version of both, and updates them from fragments of any actors.

    Args:
        spec: of the actors that it learns from.
        experience: `Rollouts` or `Replay`, made from its options.
        backend: name of a backend.
        execution_spec: see `rlgraph.core.ExecutionSpec`.
    """

    def __init__(
        self,
        spec: ActorSpec,
        experience: Rollouts | Replay,
        backend: str | None = None,
        execution_spec: Mapping[str, Any] | None = None,
    ):
        self.spec, self.experience = spec, experience
        probe = spec.make_graph()
        algorithm = probe.algorithm
        beginnings = algorithm.internal_states_space
        fields = experience.fields(beginnings is not None)
        memory = experience.memory if isinstance(experience, Replay) else None
        self.graph = spec.make_graph(memory=memory, fields=fields)
        raw, actions = spec.raw_space, from_spec(spec.action_space)
        #: One state as the algorithm sees it.
        self.state_space = seen = self.graph.seen_space(raw)
        spaces = {
            **self.graph.acting_spaces(raw),
            **experience.input_spaces(seen, actions, beginnings),
        }
        self.executor = executor_class(backend)(
            self.graph,
            spaces,
            action_space=actions,
            backend=backend,
            execution_spec={"seed": spec.seed, "dtype": spec.dtype, **(execution_spec or {})},
        )
        self._weights = self.executor.flat_weights(self.graph.acting_methods)
        #: Updates done: the version of the weights.
        self.version = 0
        #: Environment steps learned from or inserted.
        self.steps = 0
        #: How much of training is done.
        self.progress = 0.0
        #: Actor -> the origin of its newest fragment.
        self._newest: dict[int, Origin] = {}
        self._writers: dict[int, ReplayWriter] = {}
        self._due = {name: self._interval(name) for name in algorithm.schedule}

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
        dtype = self.executor.execution.dtype
        insert = self.executor.program("insert_records")
        writer = self._writers.setdefault(fragment.origin.actor, ReplayWriter(self.experience, insert, dtype))
        if before is not None and before.incarnation != fragment.origin.incarnation:
            writer.drop()
        writer.add_fragment(fragment)
        self.steps += int(fragment.valid.sum())
        return True

    def update_from_memory(self) -> dict[str, float]:
        """One update on records that the memory gives."""
        assert isinstance(self.experience, Replay)
        size = np.array(self.experience.updates.batch_size)
        program = self.executor.program("update_from_memory")
        return self._updated(program(size, **self._times("update")))

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
        records, beginnings = rollout_records(fragments, self.executor.execution.dtype)
        self.steps += int(sum(fragment.valid.sum() for fragment in fragments))
        given = {} if beginnings is None else {"beginnings": beginnings}
        return self._updated(self.executor.program("update")(records, **given, **self._times("update")))

    def _times(self, method: str) -> dict[str, Any]:
        if not self.graph.takes(method, "time_percentage"):
            return {}
        return {"time_percentage": np.array(self.progress, self.executor.execution.dtype)}

    def _updated(self, results: Mapping[str, Any]) -> dict[str, float]:
        metrics = {name: float(value) for name, value in results.items()}
        for name, value in metrics.items():
            if not isfinite(value):
                raise NumericalError(f"{name} of update {self.version + 1} (step {self.steps}) is {value}")
        self.version += 1
        self._do_what_is_due()
        return metrics

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
        header = {"version": self.version, "progress": self.progress, "digest": self._weights.digest}
        return pack_message(header, self._weights.get())
