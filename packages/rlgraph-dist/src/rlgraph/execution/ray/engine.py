"""Actors as processes of a Ray cluster."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rlgraph.core import PluginError, SpecError
from rlgraph.core.errors import type_and_text
from rlgraph.core.specs.spec_types import Amount, Count, Seconds
from rlgraph.execution.engine import ActorDied, Bytes, Demand, Engine, failure
from rlgraph.execution.ray.cluster import abandon, connect, disconnect
from rlgraph.execution.ray.placement import Placement, Shares, check_resources
from rlgraph.execution.ray.watch import Watch, within
from rlgraph.execution.remote.host import Host
from rlgraph.execution.remote.learners import end_with

#: Number of bytes below which Ray sends a value with the call; larger ones go to its store.
_LARGE = 100 * 1024
#: Seconds that the end of an actor is waited for.
_KILL = 5.0
#: Bytes of a dead process's output that are kept.
_LOG_BYTES = 65_536
#: Engines whose machine's part of the cluster has ended: what they refer to must not be given back.
_abandoned: list[Engine] = []


class RayEngine(Engine):
    """Starts actors on Ray (https://docs.ray.io), in a cluster that is running or one of this machine.

    Args:
        address: of a running cluster, ``"auto"``, ``"host:port"`` or ``"ray://host:port"``; None: the cluster that this
            program is connected to, else that of ``RAY_ADDRESS``, else one of this machine is started, which only this
            machine can reach, and shut down when its last engine closes.
        num_cpus: CPUs of a cluster that is started; None: as many as there are.
        cpus_per_actor, gpus_per_actor: what each actor takes.
        cpus_per_shard, gpus_per_shard: what each replay shard takes.
        learner_cpus, learner_gpus: reserved for the learner, on its node.
        placement: strategy of a placement group for all of these; None: each goes where there is room.
        connect_timeout: seconds until a cluster at `address` has answered.

    Raises:
        PluginError: Ray is not installed.
        SpecError: no cluster answers at the address, or the program is connected to another one.
    """

    def __init__(
        self,
        *,
        address: str | None = None,
        num_cpus: Count | None = None,
        cpus_per_actor: Amount = 1.0,
        gpus_per_actor: Amount = 0.0,
        cpus_per_shard: Amount = 0.0,
        gpus_per_shard: Amount = 0.0,
        learner_cpus: Amount = 0.0,
        learner_gpus: Amount = 0.0,
        placement: Literal["PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD"] | None = None,
        connect_timeout: Seconds = 20.0,
    ):
        try:
            import ray
        except ImportError as error:
            raise PluginError(f"engine 'ray' needs Ray ({error}): pip install 'rlgraph-dist[ray]'") from None
        self._ray: Any = ray
        self._connection = connect(ray, address, num_cpus, connect_timeout)
        self._watch = Watch(ray, address or os.environ.get("RAY_ADDRESS"))
        ray.method(num_returns=2)(_RayHost.call)
        self._host: Any = ray.remote(_RayHost)
        self._shares = Shares(
            {"CPU": cpus_per_actor, "GPU": gpus_per_actor},
            {"CPU": cpus_per_shard, "GPU": gpus_per_shard},
            {"CPU": learner_cpus, "GPU": learner_gpus},
        )
        self._strategy = placement
        self._placement: Placement | None = None
        self._actors: dict[Any, _Actor] = {}

    @classmethod
    def addresses(cls, options: Mapping[str, Any]) -> list[str]:
        """The addresses in the options of an engine."""
        return [options["address"]] if options.get("address") is not None else []

    def check_room(self, demand: Demand) -> None:
        check_resources(self._ray, self._shares, demand)
        store = self._ray.cluster_resources().get("object_store_memory", 0.0)
        if demand.message_bytes > store:
            raise SpecError(
                f"the messages under way need {_megabytes(demand.message_bytes)}, and Ray's object store has "
                f"{_megabytes(store)}: set fewer actors, num_envs, requests_per_actor or a shorter fragment, or start "
                f"the cluster with a larger one (ray start --object-store-memory={int(demand.message_bytes)})",
                path="executor_spec.engine",
            )
        if self._strategy is not None:
            self._placement = Placement(self._ray, self._strategy, self._shares, demand)

    def give_back_room(self) -> None:
        if self._placement is not None and not self._watch.lost:
            within(_KILL, self._placement.close)
        self._placement = None

    def start(self, make: bytes, name: str, is_light: bool = False) -> Any:
        kind = "shard" if is_light else "actor"
        share = getattr(self._shares, kind)
        bundle, options = (-1, {}) if self._placement is None else self._placement.take(kind)
        kinds = self._host.options(num_cpus=share["CPU"], num_gpus=share["GPU"], max_restarts=0, **options)
        actor = self._watch.call(kinds.remote, make)
        self._actors[actor] = _Actor(name, actor.output.remote(), kind, bundle)
        return actor

    def call(self, actor: Any, method: str, *arguments: Any) -> _Call:
        facts, body = actor.call.remote(method, *arguments)
        return _Call(facts, body, actor)

    def share(self, value: bytes) -> Any:
        return value if len(value) < _LARGE else self._watch.call(self._ray.put, _as_value(value))

    def fetch(self, reference: Any) -> Bytes:
        if isinstance(reference, bytes):
            return reference
        try:
            return memoryview(self._watch.get(reference))
        except self._ray.exceptions.RayError as error:
            raise ActorDied(f"what an actor sent is lost: {_text_of(error)}") from None

    def wait(self, calls: Sequence[_Call], timeout: float) -> list[_Call]:
        facts = [call.facts for call in calls]
        self._watch.check()
        done, _ = self._ray.wait(facts, num_returns=len(facts), timeout=0)
        there = set(done if done else self._watch.wait(facts, timeout))
        return [call for call in calls if call.facts in there]

    def result(self, call: _Call) -> tuple[bytes, Any]:
        errors = self._ray.exceptions
        actor = self._actors[call.actor]
        try:
            return self._watch.get(call.facts), call.body
        except errors.RayTaskError as error:
            raise failure(actor.name, error.cause, str(error)) from None
        except errors.RayError as error:
            raise ActorDied(f"{actor.name}: {_text_of(error)}", self._output(actor.output)) from None

    def _output(self, output: Any) -> str:
        """The last of what a process wrote, or where it is; empty if that is unknown."""
        try:
            node, *files = self._watch.get(output, timeout=1.0)
        except self._ray.exceptions.RayError:  # it died before it could say
            return ""
        parts = []
        for file in dict.fromkeys(files):
            if Path(file).is_file():
                parts.append(Path(file).read_bytes()[-_LOG_BYTES:].decode(errors="replace").strip())
            else:
                parts.append(f"see {file} on node {node}")
        return "\n".join(filter(None, parts))

    def kill(self, actor: Any) -> None:
        known = self._actors.pop(actor, None)
        if known is not None and not self._watch.lost:
            within(_KILL, self._ray.kill, actor)
            if self._placement is not None:
                self._placement.give_back(known.kind, known.bundle)

    def close(self) -> None:
        for actor in [*self._actors] if self._watch.has_store else []:
            self.kill(actor)
        self.give_back_room()
        if self._connection is not None and self._watch.has_store:
            disconnect(self._ray, self._connection)
        elif self._connection is not None:
            abandon(self._connection)
            _abandoned.append(self)
        self._connection = None


@dataclass(frozen=True)
class _Actor:
    """An actor: its name, the call that says where its output is, its kind, and its bundle in the placement group."""

    name: str
    output: Any
    kind: str
    bundle: int


@dataclass(frozen=True, eq=False)
class _Call:
    """A call of a host: references to what it returns, and the actor."""

    facts: Any
    body: Any
    actor: Any


class _RayHost(Host):
    """A `Host` in a process of Ray's, which ends with the raylet that started it."""

    def __init__(self, make: bytes):
        threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
        super().__init__(make)

    def output(self) -> tuple[str, ...]:
        """The name of this node, and the files that the process writes into; none where that cannot be told."""
        places = [f"/proc/self/fd/{number}" for number in (1, 2)]
        files = [os.path.realpath(place) for place in places if os.path.exists(place)]
        return (os.uname().nodename, *files)

    def call(self, method: str, *arguments: Any) -> tuple[bytes, Any]:
        facts, body = super().call(method, *(memoryview(argument) for argument in arguments))
        return facts, _as_value(body)


def _as_value(data: bytes) -> Any:
    """Bytes as Ray gets them to others fastest: large ones as an array, which is read from shared memory in place."""
    return data if len(data) < _LARGE else np.frombuffer(data, np.uint8)


def _text_of(error: Exception) -> str:
    return " ".join(type_and_text(error).split())


def _megabytes(number: float) -> str:
    return f"{number / 1e6:,.0f} MB"
