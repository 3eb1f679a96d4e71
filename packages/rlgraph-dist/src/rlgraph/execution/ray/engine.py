"""Actors as processes of a Ray cluster."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Mapping, Sequence
from typing import Any

from rlgraph.core import PluginError, SpecError
from rlgraph.core.specs.spec_types import Amount, Count
from rlgraph.execution.engine import ActorDied, ActorFailed, Engine


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
        self._host = self._ray.remote(_Host)
        self._resources = {"num_cpus": cpus_per_actor, "num_gpus": gpus_per_actor}
        self._names: dict[Any, str] = {}
        self._actors: dict[Any, str] = {}

    def start(self, make: bytes, name: str, is_light: bool = False) -> Any:
        resources = dict.fromkeys(self._resources, 0) if is_light else self._resources
        actor = self._host.options(**resources, max_restarts=0).remote(make)
        self._actors[actor] = name
        return actor

    def call(self, actor: Any, method: str, *arguments: Any) -> Any:
        call = actor.call.remote(method, *arguments)
        self._names[call] = self._actors[actor]
        return call

    def share(self, value: bytes) -> Any:
        return self._ray.put(value)

    def wait(self, calls: Sequence[Any], timeout: float) -> list[Any]:
        calls = list(calls)
        done, rest = self._ray.wait(calls, num_returns=1, timeout=timeout)
        if done and rest:
            further, _ = self._ray.wait(rest, num_returns=len(rest), timeout=0)
            done += further
        return [call for call in calls if call in done]

    def result(self, call: Any) -> bytes:
        name, errors = self._names.pop(call), self._ray.exceptions
        try:
            result: bytes = self._ray.get(call)
        except errors.RayTaskError as error:
            raise ActorFailed(f"{name}: {error}") from None
        except errors.RayError as error:
            raise ActorDied(f"{name}: {type(error).__name__}: {' '.join(str(error).split())}") from None
        return result

    def kill(self, actor: Any) -> None:
        if self._actors.pop(actor, None) is not None:
            self._ray.kill(actor)

    def close(self) -> None:
        for actor in list(self._actors):
            self.kill(actor)
        if self._owns_cluster:
            self._ray.shutdown()


class _Host:
    """The object whose methods are called, in a process of Ray's."""

    def __init__(self, make: bytes):
        self._hosted = pickle.loads(make)()

    def call(self, method: str, *arguments: Any) -> Any:
        return getattr(self._hosted, method)(*arguments)
