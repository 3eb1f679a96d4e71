"""Actors in virtual time: their results have made-up content."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from rlgraph.execution.engine import Engine
from rlgraph.execution.remote.host import unpacked
from rlgraph.execution.remote.sampling import Sample, SamplerSpec
from rlgraph.execution.simulation.clock import Action, VirtualClock
from rlgraph.execution.simulation.costs import Costs
from rlgraph.experience.fragment import Origin


@dataclass(eq=False)
class VirtualCall:
    """A call, and what it returned."""

    method: str
    argument: bytes
    is_done: bool = False
    facts: bytes = b""


@dataclass(eq=False)
class VirtualActor:
    """What would run elsewhere.

    Attributes:
        spec: of a sampler or a replay shard.
        calls: those that wait.
        is_free: whether it does nothing.
        free_since: time of its last result.
        times: seconds that it waited and worked since its last facts.
        done: fragments sent, or records inserted.
    """

    spec: Any
    calls: deque[VirtualCall] = field(default_factory=deque)
    is_free: bool = True
    free_since: float = 0.0
    times: tuple[float, float] = (0.0, 0.0)
    done: int = 0


class SimulatedEngine(Engine):
    """Actors on virtual machines: calls take virtual time, by measured costs.

    Calls, results and updates of the learner take the time of one core, too, and results wait for it.

    Args:
        costs: what takes how long.
        clock: has the cores.
        batch: message of a batch, as replay shards send it.
        reads_bodies: whether fragments go through the learner's process.
        seed: of the jitter.
    """

    def __init__(
        self,
        costs: Costs,
        clock: VirtualClock | None = None,
        batch: bytes = b"",
        reads_bodies: bool = True,
        seed: int = 0,
    ):
        self.costs, self.clock, self._batch = costs, clock or VirtualClock(), batch
        self._reads_bodies = reads_bodies
        self._rng = np.random.default_rng(seed)
        #: What the learner's process does -> seconds of work.
        self.spent: dict[str, float] = {}
        #: Calls that are waited for, and whether one of them is done.
        self._waited: set[VirtualCall] = set()
        self._is_any_done = False

    def now(self) -> float:
        return self.clock.time

    def work(self, what: str, seconds: float) -> None:
        """The learner's process does something."""
        ended: list[bool] = []
        self.spent[what] = self.spent.get(what, 0.0) + seconds
        self.clock.work(seconds, lambda: ended.append(True))
        self.clock.run(lambda: bool(ended))

    def start(self, make: bytes, name: str, is_light: bool = False) -> VirtualActor:
        return VirtualActor(unpacked(make), free_since=self.now())

    def call(self, actor: VirtualActor, method: str, *arguments: Any) -> VirtualCall:
        self.work("asking", self.costs.asking)
        call = VirtualCall(method, arguments[0])
        size = {"sample": self.costs.weights_bytes, "insert": self.costs.fragment_bytes}.get(method, 0)
        self._send(size, partial(self._arrive, actor, call))
        return call

    def share(self, value: bytes) -> bytes:
        return value

    def fetch(self, reference: Any) -> bytes:
        return self._batch

    def wait(self, calls: Sequence[VirtualCall], timeout: float) -> list[VirtualCall]:
        self.work("waiting", self.costs.waiting * len(calls))
        self._waited, self._is_any_done = set(calls), any(call.is_done for call in calls)
        self.clock.run(lambda: self._is_any_done, self.now() + timeout)
        return [call for call in calls if call.is_done]

    def result(self, call: VirtualCall) -> tuple[bytes, None]:
        if call.method == "draw" or (call.method == "sample" and self._reads_bodies):
            self.work("receiving", self.costs.receiving)
        return call.facts, None

    def kill(self, actor: VirtualActor) -> None:
        actor.calls.clear()

    def close(self) -> None:
        pass

    def _send(self, size: int, action: Action) -> None:
        """Do something when a message arrived; on shared cores its way is work of the engine's processes."""
        seconds = self.costs.latency + size / self.costs.bandwidth
        (self.clock.work if self.clock.is_shared else self.clock.after)(seconds, action)

    def _arrive(self, actor: VirtualActor, call: VirtualCall) -> None:
        actor.calls.append(call)
        if actor.is_free:
            self._begin(actor)

    def _begin(self, actor: VirtualActor) -> None:
        call, waited = actor.calls.popleft(), self.now() - actor.free_since
        actor.is_free, actor.times = False, (actor.times[0] + waited, actor.times[1])
        self.clock.work(self._seconds(actor, call), partial(self._end, actor, call, self.now()))

    def _end(self, actor: VirtualActor, call: VirtualCall, begun: float) -> None:
        actor.free_since, actor.is_free = self.now(), True
        actor.times = actor.times[0], actor.times[1] + self.now() - begun
        call.facts = self._facts(actor, call)
        size = {"draw": self.costs.batch_bytes, "sample": self.costs.fragment_bytes * self._reads_bodies}
        self._send(size.get(call.method, 0), partial(self._finish, call))
        if actor.calls:
            self._begin(actor)

    def _finish(self, call: VirtualCall) -> None:
        call.is_done = True
        self._is_any_done = self._is_any_done or call in self._waited

    def _seconds(self, actor: VirtualActor, call: VirtualCall) -> float:
        """How long a call works."""
        costs = self.costs
        if call.method != "sample":
            of_shards = {"insert": costs.insert, "draw": costs.draw, "update": costs.set_priorities}
            return costs.hosting + of_shards[call.method]
        seconds = actor.spec.length * (costs.acting + costs.stepping) + costs.packing
        return costs.hosting + float(seconds * max(self._rng.normal(1.0, costs.jitter), 0.1))

    def _facts(self, actor: VirtualActor, call: VirtualCall) -> bytes:
        spec, times = actor.spec, actor.times
        if isinstance(spec, SamplerSpec):
            actor.times, actor.done = (0.0, 0.0), actor.done + 1
            origin, steps = Origin(spec.number, spec.incarnation, actor.done - 1), spec.length * spec.num_envs
            version, size = int(call.argument), self.costs.fragment_bytes
            return Sample(origin, version, steps, [], 0, 0, size, times).facts()
        if call.method == "insert":
            actor.done += 1
            return json.dumps({"refused": None}).encode()
        if call.method == "update":
            return b""
        actor.times = (0.0, 0.0)
        return json.dumps({"inserted": actor.done, "times": times}).encode()
