"""The programs of a graph executor: plans and what backends make of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from rlgraph.core.backend import Backend
from rlgraph.core.collectives import Collective
from rlgraph.core.errors import CapabilityError, RLGraphError, nearest
from rlgraph.core.graph import Plan, link, make_plan
from rlgraph.core.graph.call_fusion import FusedCall, fuse
from rlgraph.core.graph.passes.draws_ahead import draw_ahead, draws_left
from rlgraph.core.graph.passes.kept_tensors import kept_tensors
from rlgraph.core.numpy.backend import ActingBackend, BorrowedStorage
from rlgraph.core.random_streams import RandomStreams
from rlgraph.core.runtime.guarded_storage import GuardedStorage
from rlgraph.core.runtime.input_conversion import converter
from rlgraph.core.runtime.learner_group import LearnerGroup
from rlgraph.core.storage import Storage

Program = Callable[..., Any]


@dataclass(frozen=True)
class Lowered:
    """A plan of which a backend has lowered the segments. Linked to random streams it is a program.

    Attributes:
        plan: the plan.
        segments: name of a segment -> what the backend made of it.
        receive: what makes a tensor of an array where these stay tensors between segments; None: nowhere.
        storage: the variables on which they run.
    """

    plan: Plan
    segments: Mapping[str, Program]
    storage: Storage
    receive: Callable[[np.ndarray], Any] | None = None


class Programs:
    """The programs of a built graph. Each is made when it is first asked for, once, whichever threads ask.

    Args:
        backend: who runs them.
        guarded: the variables that they share.
        collective: how this learner reaches the others of its group; None: there is no group.

    Attributes:
        of_methods: API method -> its program, as far as they were made.
        of_calls: several calls -> their program, likewise.
        statistics: name of a plan -> what its passes did, and the seconds that planning and lowering took.
    """

    def __init__(self, backend: Backend, guarded: GuardedStorage, collective: Collective | None = None):
        self.group = None if collective is None else LearnerGroup(collective, guarded.locks)
        self.built, self.backend, self.guarded = guarded.built, backend, guarded
        self.of_methods: dict[str, Program] = {}
        self.of_calls: dict[tuple[FusedCall, ...], Program] = {}
        self.statistics: dict[str, dict[str, float | int]] = {}
        self._plans: dict[str, Plan] = {}
        self._acting: dict[str, Lowered] = {}
        self._making = threading.RLock()

    def plan(self, method: str) -> Plan:
        """The plan of an API method.

        Raises:
            RLGraphError: there is no such method; names the nearest.
        """
        self.check_method(method)
        if method not in self._plans:
            self._plans[method] = make_plan(self.built, method)
        return self._plans[method]

    def check_method(self, name: str) -> None:
        """Raise `RLGraphError` unless the root has the API method `name`."""
        known = self.built.graph.methods
        if name not in known:
            raise RLGraphError(f"{self.built.graph.root} has no API method {name!r}. {nearest(name, known)}")

    def of_method(self, method: str, streams: RandomStreams | None = None) -> Program:
        """The program of an API method; with `streams` a new one, which draws from these.

        Raises:
            RLGraphError: there is no such method.
            CapabilityError: the backend cannot run it, or it draws where no other streams can be put in.
        """
        if streams is not None:
            return self._of_others(method, streams)
        return self._made(self.of_methods, method, lambda: self.plan(method))

    def of_fused(self, calls: tuple[FusedCall, ...]) -> Program:
        """The program of several calls."""
        return self._made(self.of_calls, calls, lambda: make_plan(*fuse(self.built, calls)))

    def _made(self, programs: dict[Any, Program], key: Any, plan_of: Callable[[], Plan]) -> Program:
        """The program at `key`; made now, unless another thread has just done so."""
        with self._making:
            if key not in programs:
                plan = plan_of()
                acts = key in self.backend.execution.acting_methods
                lower = partial(self._acting_plan, key) if acts else partial(self._on_backend, plan)
                programs[key] = self._link(self._timed(plan, lower))
        return programs[key]

    def _timed(self, plan: Plan, lower: Callable[[], Lowered]) -> Lowered:
        """What `lower` returns of a plan, which gets its line among the statistics."""
        started = time.perf_counter()
        lowered = lower()
        self.statistics[plan.name] = {**plan.statistics, "lowering_seconds": time.perf_counter() - started}
        return lowered

    def act_on_numpy(self, methods: Iterable[str]) -> None:
        """Let NumPy run these API methods, all of them or none.

        Raises:
            CapabilityError: NumPy cannot run one of them.
        """
        lowered = {m: self._timed(self.plan(m), partial(self._on_numpy, m)) for m in methods}
        self._acting |= lowered
        self.of_methods |= {method: self._link(each) for method, each in lowered.items()}

    def on_numpy(self, method: str) -> Program:
        """The program of an API method on NumPy over the same variables (see `GraphExecutor.numpy_program`)."""
        return self._link(self._on_numpy(method))

    def _of_others(self, method: str, streams: RandomStreams) -> Program:
        with self._making:
            lowered = self._acting_plan(method)
        if left := draws_left(lowered.plan):
            raise CapabilityError(
                f"API method {method!r} cannot draw from other streams: {', '.join(left)} draws inside a loop or "
                "branch, or values of tensors decide how many numbers it needs. Draw outside, or leave out streams"
            )
        return self._link(lowered, streams)

    # Lowering and linking.

    def _on_backend(self, plan: Plan) -> Lowered:
        return self._lower(plan, self.backend, self.guarded.storage)

    def _acting_plan(self, method: str) -> Lowered:
        """The plan of a method whose draws come from NumPy streams, whoever runs it."""
        if method not in self._acting:
            plan = draw_ahead(self.plan(method))
            if left := draws_left(plan):
                self.backend.choices[f"draws:{method}"] = f"backend ({', '.join(left)})"
            self._acting[method] = self._on_backend(plan)
        return self._acting[method]

    def _on_numpy(self, method: str) -> Lowered:
        plan = draw_ahead(self.plan(method))
        if plan.writes:
            raise RLGraphError(f"{method!r} writes variables: only read-only methods run on borrowed memory")
        return self._lower(plan, ActingBackend(self.backend.execution), self._borrowed)

    @cached_property
    def _borrowed(self) -> BorrowedStorage:
        """The variables of all methods that run on NumPy: one, so that weights are copied once per write."""
        return BorrowedStorage(self.guarded.storage)

    def _lower(self, plan: Plan, backend: Backend, storage: Storage) -> Lowered:
        backend.require(plan)
        receive = backend.receive(plan)
        if receive is not None:
            plan = replace(plan, kept=kept_tensors(plan))
        lowered = {segment.name: backend.lower(plan, segment, storage) for segment in plan.segments}
        return Lowered(plan, lowered, storage, receive)

    def _link(self, lowered: Lowered, streams: RandomStreams | None = None) -> Program:
        drawn, storage = self.guarded.storage.streams if streams is None else streams, lowered.storage
        program = link(
            lowered.plan,
            lambda segment: lowered.segments[segment.name],
            partial(self.guarded.host_view, streams=drawn),
            converter,
            partial(self.guarded.guard, storage=storage),
            drawn.__getitem__,
            self.group,
            lowered.receive,
        )
        if not isinstance(storage, BorrowedStorage):
            return program
        if not storage.read_from(self.built.layout.group_of[name] for name in lowered.plan.reads):
            return program

        def refreshed(*args: Any, **kwargs: Any) -> Any:
            storage.refresh()
            return program(*args, **kwargs)

        return refreshed
