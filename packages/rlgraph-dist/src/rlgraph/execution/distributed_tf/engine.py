"""Actors as sessions on the learner's TensorFlow server."""

from __future__ import annotations

import itertools
import json
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from rlgraph.core import SpecError
from rlgraph.core.addresses import answers, free_address
from rlgraph.core.specs.connections import check_connections, check_network
from rlgraph.core.specs.spec_types import Seconds
from rlgraph.execution import engine as faults
from rlgraph.execution.distributed_tf.cluster import Cluster
from rlgraph.execution.distributed_tf.imports import import_server_queues
from rlgraph.execution.distributed_tf.worker import FAULT
from rlgraph.execution.distributed_tf.worker_addresses import LocalProcess, Place, Task
from rlgraph.execution.engine import ActorDied, ActorFault, Bytes, Demand, Engine
from rlgraph.experience.messages import pack_message

#: Seconds between two looks at the workers.
_INTERVAL = 0.5
#: Seconds that workers of a cluster have to end.
_END = 4.0
#: Numbers of workers that are processes of this machine. No number is used twice, since the server stays.
_worker_numbers = itertools.count()
#: The address of this process's server, where no cluster is given.
_local_address = cache(free_address)
#: The reference to the value that was shared last.
_SHARED = object()


class DistributedTFEngine(Engine):
    """Actors are processes with a session on the server of the learner, a `tf.distribute.Server`.

    The server has a queue of answers, in which fragments wait for the learner, a queue of requests for each actor, and
    the weights in a variable. An actor gives an answer, gets its next request and reads the weights in one call. The
    next answers are taken from the queue while the learner does something else. A call with a shared value gets the
    value that was shared last when it begins.

    Args:
        cluster: addresses of a learner and its workers, ``{"learner": ["host:port"], "actor": ["host:port", ...]}``, or
            a JSON file with them; workers are started on their machines by
            ``python -m rlgraph.execution.distributed_tf --cluster FILE --index I``. None: they are started here.
        connect_timeout: seconds until all workers are there.
        allow_network: True starts the server, which other machines can reach: it listens on all interfaces, whatever
            address it is given, and has no password.

    Raises:
        PluginError: TensorFlow is not installed.
        SpecError: nobody has allowed the server, the document is wrong, or the learner's address is in use.
    """

    needs_network = True

    def __init__(self, *, cluster: Any = None, connect_timeout: Seconds = 60.0, allow_network: bool = False):
        board = import_server_queues()
        check_network("engine.allow_network", is_allowed=allow_network)
        self._cluster = None if cluster is None else Cluster.from_spec(cluster, "engine.cluster")
        # What is used now: a file may have changed since it was checked.
        check_connections(type(self), {"cluster": self._cluster}, "engine")
        self._timeout = connect_timeout
        self._address = _local_address() if self._cluster is None else self._cluster.learner
        server = board.server(self._address)
        self._key = uuid.uuid4().hex
        self._board = board.LearnerBoard(server.target, self._key)
        for number in range(len(self._tasks)):
            self._board.take_back(number)
        self._actors: dict[int, _Actor] = {}
        self._calls: dict[int, _Call] = {}
        self._numbers, self._call_numbers = itertools.count(), itertools.count()
        self._looked = 0.0
        self._answers: SimpleQueue[Any] = SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @classmethod
    def addresses(cls, options: Mapping[str, Any]) -> list[str]:
        """The addresses in the options of an engine."""
        if options.get("cluster") is None:
            return []
        cluster = Cluster.from_spec(options["cluster"], "engine.cluster")
        return [cluster.learner, *cluster.workers]

    @property
    def _tasks(self) -> tuple[str, ...]:
        """Addresses of workers that are started elsewhere."""
        return () if self._cluster is None else self._cluster.workers

    def _read(self) -> None:
        """Take answers from the queue as they come; the last thing that is put is the error that ended it."""
        closed = import_server_queues().Closed
        while True:
            try:
                self._answers.put(self._board.take())
            except Exception as error:
                if not isinstance(error, closed):
                    self._answers.put(error)
                return

    def check_room(self, demand: Demand) -> None:
        if self._cluster is None:
            return
        needed = demand.actors + demand.shards
        if needed > len(self._tasks):
            raise SpecError(
                f"expected at least {needed} workers, {demand.actors} for actors and {demand.shards} for replay "
                f"shards, given {len(self._tasks)}: set fewer, or add addresses",
                path=f"executor_spec.engine.cluster.{self._cluster.job}",
            )
        until, missing = time.monotonic() + self._timeout, list(range(needed))
        while missing := [i for i in missing if not answers(self._tasks[i], 1.0)]:
            if time.monotonic() > until:
                listed = ", ".join(f"{self._cluster.job} {i} ({self._tasks[i]})" for i in missing)
                raise SpecError(
                    f"expected {needed} workers within {self._timeout:g} s, nobody came to {listed}: start them there "
                    "by python -m rlgraph.execution.distributed_tf --cluster FILE --index I",
                    path=f"executor_spec.engine.cluster.{self._cluster.job}",
                )
            time.sleep(0.2)

    def start(self, make: bytes, name: str, is_light: bool = False) -> _Actor:
        place, number = self._take_place(), next(self._numbers)
        ask, close = self._board.requests(number)
        header = {
            "key": self._key,
            "number": number,
            "name": name,
            "tensorflow": import_server_queues().VERSION,
        }
        self._board.give(place.number, pack_message(header, {"make": np.frombuffer(make, np.uint8)}))
        actor = self._actors[number] = _Actor(number, name, place, ask, close)
        return actor

    def _take_place(self) -> Place:
        if self._cluster is None:
            return LocalProcess(next(_worker_numbers), self._address, self._timeout)
        taken = {actor.place.number for actor in self._actors.values()}
        index = next(i for i in range(len(self._tasks)) if i not in taken)
        return Task(index, self._tasks[index], self._timeout)

    def call(self, actor: _Actor, method: str, *arguments: Any) -> _Call:
        call = _Call(actor, next(self._call_numbers), actor.fault)
        if call.fault is None:
            weights = [i for i, argument in enumerate(arguments) if argument is _SHARED]
            header = {"call": call.number, "method": method, "arguments": len(arguments), "weights": weights}
            given = {
                str(i): np.frombuffer(argument, np.uint8)
                for i, argument in enumerate(arguments)
                if argument is not _SHARED
            }
            self._calls[call.number] = call
            actor.ask(pack_message(header, given), bool(weights))
        return call

    def share(self, value: bytes) -> Any:
        self._board.share(value)
        return _SHARED

    def fetch(self, reference: Bytes) -> Bytes:
        return reference

    def wait(self, calls: Sequence[_Call], timeout: float) -> list[_Call]:
        until = time.monotonic() + timeout
        while True:
            self._take_in(0.0)
            self._look_after_actors()
            if done := [call for call in calls if call.is_done]:
                return done
            rest = until - time.monotonic()
            if rest <= 0.0:
                return []
            self._take_in(min(rest, _INTERVAL))

    def _take_in(self, timeout: float) -> None:
        """Take in the answers that are there, or the first one that comes."""
        try:
            answer = self._answers.get(timeout > 0.0, timeout or None)
            while True:
                self._take(answer)
                answer = self._answers.get_nowait()
        except Empty:
            return

    def _take(self, answer: Any) -> None:
        if isinstance(answer, Exception):
            raise answer
        numbers, facts, body = answer
        number, kind = numbers.tolist()
        if (call := self._calls.pop(number, None)) is None:  # it was given up
            return
        call.facts, call.body = facts.tobytes(), memoryview(body)
        if kind == FAULT:
            told = json.loads(call.facts)
            call.fault = getattr(faults, told["type"])(told["text"], told["log"])

    def _look_after_actors(self) -> None:
        """Calls of actors that are gone have failed."""
        if (now := time.monotonic()) < self._looked + _INTERVAL:
            return
        self._looked = now
        for actor in self._actors.values():
            if actor.fault is None and (problem := actor.place.problem()):
                self._give_up(actor, ActorDied(f"{actor.name}: {problem}", actor.place.log()))

    def _give_up(self, actor: _Actor, fault: ActorFault) -> None:
        actor.fault = fault
        for call in [call for call in self._calls.values() if call.actor is actor]:
            del self._calls[call.number]
            call.fault = fault

    def result(self, call: _Call) -> tuple[bytes, Bytes]:
        if call.fault is not None:
            raise call.fault
        assert call.facts is not None
        return call.facts, call.body

    def kill(self, actor: _Actor) -> None:
        if self._actors.pop(actor.number, None) is not None:
            self._give_up(actor, ActorDied(f"{actor.name} was killed"))
            actor.place.end()
            actor.close()

    def close(self) -> None:
        for actor in list(self._actors.values()):
            self.kill(actor)
        self._end_tasks()
        self._board.close_answers()
        self._reader.join()
        self._board.close()

    def _end_tasks(self) -> None:
        """End the workers of the cluster, and wait until they have: the server ends with this process."""
        until = time.monotonic() + _END
        with ThreadPoolExecutor(max(len(self._tasks), 1)) as pool:

            def answering(tasks: list[tuple[int, str]]) -> list[tuple[int, str]]:
                answer = pool.map(lambda task: answers(task[1], 1.0), tasks)
                return [task for task, is_there in zip(tasks, answer, strict=True) if is_there]

            remaining = answering(list(enumerate(self._tasks)))
            for number, _ in remaining:  # the others would get it in a later run
                self._board.give(number, pack_message({"number": -1}, {}))
            while remaining and time.monotonic() < until:
                time.sleep(0.05)
                remaining = answering(remaining)


@dataclass(eq=False)
class _Actor:
    """An object in a worker, how it is asked, how its queue is closed, and why it is gone."""

    number: int
    name: str
    place: Place
    ask: Callable[[bytes, bool], Any]
    close: Callable[[], Any]
    fault: ActorFault | None = None


@dataclass(eq=False)
class _Call:
    """A call and what came of it."""

    actor: _Actor
    number: int
    fault: ActorFault | None = None
    facts: bytes | None = None
    body: Bytes = b""

    @property
    def is_done(self) -> bool:
        return self.fault is not None or self.facts is not None
