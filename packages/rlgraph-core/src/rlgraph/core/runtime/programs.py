"""The programs of a graph executor: plans and what backends make of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from rlgraph.core.backend import Backend, Storage
from rlgraph.core.errors import RLGraphError, nearest
from rlgraph.core.graph import Plan, link, make_plan
from rlgraph.core.graph.call_fusion import FusedCall, fuse
from rlgraph.core.graph.passes.replica_copies import Replication
from rlgraph.core.numpy.backend import ActingBackend, BorrowedStorage
from rlgraph.core.runtime.guarded_storage import GuardedStorage
from rlgraph.core.runtime.input_conversion import converter

Program = Callable[..., Any]


class Programs:
    """The programs of a built graph. Each is made when it is first asked for, once, whichever threads ask.

    Args:
        backend: who runs them.
        guarded: the variables that they share.
        replication: how replicas share updates; None: they do not.

    Attributes:
        of_methods: API method -> its program, as far as they were made.
        of_calls: several calls -> their program, likewise.
        statistics: name of a plan -> what its passes did, and the seconds that planning and lowering took.
    """

    def __init__(self, backend: Backend, guarded: GuardedStorage, replication: Replication | None):
        self.built, self.backend, self.guarded, self.replication = (
            guarded.built,
            backend,
            guarded,
            replication,
        )
        self.of_methods: dict[str, Program] = {}
        self.of_calls: dict[tuple[FusedCall, ...], Program] = {}
        self.statistics: dict[str, dict[str, float | int]] = {}
        self._plans: dict[str, Plan] = {}
        self._making = threading.RLock()

    def plan(self, method: str) -> Plan:
        """The plan of an API method.

        Raises:
            RLGraphError: there is no such method; names the nearest.
        """
        self.check_method(method)
        if method not in self._plans:
            self._plans[method] = make_plan(self.built, method, self.replication)
        return self._plans[method]

    def check_method(self, name: str) -> None:
        """Raise `RLGraphError` unless the root has the API method `name`."""
        known = self.built.graph.methods
        if name not in known:
            raise RLGraphError(f"{self.built.graph.root} has no API method {name!r}. {nearest(name, known)}")

    def of_method(self, method: str) -> Program:
        """The program of an API method.

        Raises:
            RLGraphError: there is no such method; names the nearest.
            CapabilityError: the backend cannot run it.
        """
        return self._made(self.of_methods, method, lambda: self.plan(method))

    def of_fused(self, calls: tuple[FusedCall, ...]) -> Program:
        """The program of several calls."""
        return self._made(self.of_calls, calls, lambda: make_plan(*fuse(self.built, calls), self.replication))

    def _made(self, programs: dict[Any, Program], key: Any, plan_of: Callable[[], Plan]) -> Program:
        """The program at `key`; made now, unless another thread has just done so."""
        with self._making:
            if key not in programs:
                plan = plan_of()
                self.backend.require(plan)
                programs[key] = self._timed(
                    plan, partial(self._link, plan, self.backend, self.guarded.storage)
                )
        return programs[key]

    def _timed(self, plan: Plan, make: Callable[[], Program]) -> Program:
        """The program of a plan, and its line among the statistics."""
        started = time.perf_counter()
        program = make()
        self.statistics[plan.name] = {**plan.statistics, "lowering_seconds": time.perf_counter() - started}
        return program

    def act_on_numpy(self, methods: Iterable[str]) -> None:
        """Let NumPy run these API methods, all of them or none.

        Raises:
            CapabilityError: NumPy cannot run one of them.
        """
        self.of_methods |= {m: self._timed(self.plan(m), partial(self.on_numpy, m)) for m in methods}

    def on_numpy(self, method: str) -> Program:
        """The program of an API method on NumPy over the same variables (see `GraphExecutor.numpy_program`)."""
        plan = self.plan(method)
        backend = ActingBackend(self.backend.execution)
        backend.require(plan)
        if plan.writes:
            raise RLGraphError(f"{method!r} writes variables: only read-only methods run on borrowed memory")
        read = {self.built.layout.group_of[name] for name in plan.reads}
        storage = BorrowedStorage(self.guarded.storage, read)
        program = self._link(plan, backend, storage)
        if not storage.copied:
            return program

        def refreshed(*args: Any, **kwargs: Any) -> Any:
            storage.refresh()
            return program(*args, **kwargs)

        return refreshed

    def _link(self, plan: Plan, backend: Backend, storage: Storage) -> Program:
        return link(
            plan,
            lambda segment: backend.lower(plan, segment, storage),
            self.guarded.host_view,
            converter,
            lambda step: self.guarded.guard(step, storage),
        )
