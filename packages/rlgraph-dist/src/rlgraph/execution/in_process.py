"""Actors in this process, called in the same order every time: for tests and debugging."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass

from rlgraph.execution.engine import ActorDied, ActorFault, Engine, failure
from rlgraph.execution.remote.host import Host


@dataclass(eq=False)
class _Actor:
    name: str
    host: Host


@dataclass(eq=False)
class _Call:
    facts: bytes = b""
    body: bytes = b""
    fault: ActorFault | None = None


class InProcessEngine(Engine):
    """Does every call at once, in this process; a debugger stops in actors as in any function."""

    def __init__(self) -> None:
        self._actors: set[_Actor] = set()

    def start(self, make: bytes, name: str, is_light: bool = False) -> _Actor:
        self._actors.add(actor := _Actor(name, Host(make)))
        return actor

    def call(self, actor: _Actor, method: str, *arguments: bytes) -> _Call:
        if actor not in self._actors:
            return _Call(fault=ActorDied(f"{actor.name} was killed"))
        try:
            return _Call(*actor.host.call(method, *arguments))
        except Exception as error:
            text = "".join(traceback.format_exception(error))
            return _Call(fault=failure(actor.name, error, text))

    def share(self, value: bytes) -> bytes:
        return value

    def fetch(self, reference: bytes) -> bytes:
        return reference

    def wait(self, calls: Sequence[_Call], timeout: float) -> list[_Call]:
        return list(calls)

    def result(self, call: _Call) -> tuple[bytes, bytes]:
        if call.fault is not None:
            raise call.fault
        return call.facts, call.body

    def kill(self, actor: _Actor) -> None:
        actor.host.terminate()
        self._actors.discard(actor)

    def close(self) -> None:
        for actor in [*self._actors]:
            self.kill(actor)
