"""Actors as processes of this machine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from rlgraph.execution import ActorDied, ActorFault, Engine

#: A call returns facts and a body.
Call = Future[tuple[bytes, bytes]]


@dataclass(eq=False)
class Actor:
    """A process, the connection to it, and the thread that sends calls and receives results."""

    name: str
    process: subprocess.Popen[bytes]
    connection: Connection
    thread: ThreadPoolExecutor

    def call(self, method: str, arguments: tuple[bytes, ...]) -> tuple[bytes, bytes]:
        """Call a method of the object in the process; returns facts and body."""
        try:
            self.connection.send((method, arguments))
            answer = self.connection.recv()
        except (EOFError, OSError):
            raise ActorDied(f"{self.name}: exit status {self.process.wait()}") from None
        if isinstance(answer, ActorFault):
            raise answer
        facts, body = answer
        return facts, body


class ProcessEngine(Engine):
    """Starts actors as processes of this machine (POSIX).

    References are the bytes themselves: what goes from one actor to another passes through this process.
    """

    def __init__(self) -> None:
        self._actors: list[Actor] = []

    def start(self, make: bytes, name: str, is_light: bool = False) -> Actor:
        here, there = Pipe()
        command = [
            sys.executable,
            "-m",
            "rlgraph_processes.host",
            str(there.fileno()),
            name,
        ]
        # A session of its own: Ctrl-C reaches the learner only, which then ends its actors.
        process = subprocess.Popen(
            command, pass_fds=[there.fileno()], start_new_session=True
        )
        there.close()
        self._actors.append(actor := Actor(name, process, here, ThreadPoolExecutor(1)))
        actor.thread.submit(
            here.send_bytes, make
        )  # if the process has ended, calls say so
        return actor

    def call(self, actor: Actor, method: str, *arguments: Any) -> Call:
        # The thread does one call after another, so the results come in their order.
        return actor.thread.submit(actor.call, method, arguments)

    def share(self, value: bytes) -> bytes:
        return value

    def fetch(self, reference: bytes) -> bytes:
        return reference

    def wait(self, calls: Sequence[Call], timeout: float) -> list[Call]:
        done = wait(calls, timeout, FIRST_COMPLETED).done
        return [call for call in calls if call in done]

    def result(self, call: Call) -> tuple[bytes, bytes]:
        return call.result()

    def kill(self, actor: Actor) -> None:
        actor.process.kill()
        actor.process.wait()
        actor.thread.shutdown()  # what it still waits for fails now
        actor.connection.close()
        if actor in self._actors:
            self._actors.remove(actor)

    def close(self) -> None:
        for actor in [*self._actors]:
            self.kill(actor)
