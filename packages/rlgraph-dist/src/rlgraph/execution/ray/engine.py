"""Actors as processes of a Ray cluster."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlgraph.core import PluginError, SpecError
from rlgraph.core.specs.spec_types import Amount, Count
from rlgraph.execution.engine import ActorDied, ActorFailed, Bytes, Engine

#: Number of bytes below which Ray sends a value with the call; larger ones go to its store.
_LARGE = 100 * 1024


class RayEngine(Engine):
    """Starts actors on Ray (https://docs.ray.io), in a cluster that is running or one of this machine.

    Args:
        address: of a running cluster, ``"auto"`` or ``"ray://host:port"``; None: a cluster of this machine is started,
            and shut down by `close`, unless this program has connected to one before.
        num_cpus: CPUs of a cluster that is started; None: as many as there are.
        cpus_per_actor, gpus_per_actor: what each actor takes.

    Raises:
        PluginError: Ray is not installed.
        SpecError: no cluster runs at the address.
    """

    def __init__(
        self,
        *,
        address: str | None = None,
        num_cpus: Count | None = None,
        cpus_per_actor: Amount = 1.0,
        gpus_per_actor: Amount = 0.0,
    ):
        try:
            import ray
        except ImportError as error:
            raise PluginError(f"engine 'ray' needs Ray ({error}): pip install 'rlgraph-dist[ray]'") from None
        self._ray: Any = ray
        self._owns_cluster = not ray.is_initialized()
        if self._owns_cluster:
            local: Mapping[str, Any] = {} if address else {"num_cpus": num_cpus, "include_dashboard": False}
            try:
                ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **local)
            except ConnectionError as error:
                raise SpecError(
                    f"expected the address of a running Ray cluster, given {address!r} ({error})",
                    path="engine.address",
                ) from None
        ray.method(num_returns=2)(_Host.call)
        self._host = ray.remote(_Host)
        self._resources = {"num_cpus": cpus_per_actor, "num_gpus": gpus_per_actor}
        self._actors: dict[Any, str] = {}

    def start(self, make: bytes, name: str, is_light: bool = False) -> Any:
        resources = dict.fromkeys(self._resources, 0) if is_light else self._resources
        actor = self._host.options(**resources, max_restarts=0).remote(make)
        self._actors[actor] = name
        return actor

    def call(self, actor: Any, method: str, *arguments: Any) -> _Call:
        facts, body = actor.call.remote(method, *arguments)
        return _Call(facts, body, self._actors[actor])

    def share(self, value: bytes) -> Any:
        return value if len(value) < _LARGE else self._ray.put(_as_value(value))

    def fetch(self, reference: Any) -> Bytes:
        if isinstance(reference, bytes):
            return reference
        try:
            return memoryview(self._ray.get(reference))
        except self._ray.exceptions.RayError as error:
            raise ActorDied(f"what an actor sent is lost: {_text_of(error)}") from None

    def wait(self, calls: Sequence[_Call], timeout: float) -> list[_Call]:
        facts = [call.facts for call in calls]
        done, _ = self._ray.wait(facts, num_returns=len(facts), timeout=0)
        if not done:
            done, _ = self._ray.wait(facts, num_returns=1, timeout=timeout)
        there = set(done)
        return [call for call in calls if call.facts in there]

    def result(self, call: _Call) -> tuple[bytes, Any]:
        errors = self._ray.exceptions
        try:
            return self._ray.get(call.facts), call.body
        except errors.RayTaskError as error:
            raise ActorFailed(f"{call.name}: {error}") from None
        except errors.RayError as error:
            raise ActorDied(f"{call.name}: {_text_of(error)}") from None

    def kill(self, actor: Any) -> None:
        if self._actors.pop(actor, None) is not None:
            self._ray.kill(actor)

    def close(self) -> None:
        for actor in list(self._actors):
            self.kill(actor)
        if self._owns_cluster:
            self._ray.shutdown()


@dataclass(frozen=True, eq=False)
class _Call:
    """A call of a host: references to what it returns, and the name of the actor."""

    facts: Any
    body: Any
    name: str


class _Host:
    """The object whose methods are called, in a process of Ray's."""

    def __init__(self, make: bytes):
        self._hosted = pickle.loads(make)()

    def call(self, method: str, *arguments: Any) -> tuple[bytes, Any]:
        facts, body = getattr(self._hosted, method)(*(memoryview(argument) for argument in arguments))
        return facts, _as_value(body)


def _as_value(data: bytes) -> Any:
    """Bytes as Ray gets them to others fastest: large ones as an array, which is read from shared memory in place."""
    return data if len(data) < _LARGE else np.frombuffer(data, np.uint8)


def _text_of(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
