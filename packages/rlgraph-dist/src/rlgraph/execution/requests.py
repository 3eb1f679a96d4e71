"""Fragments that actors were asked for, each with a time limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rlgraph.execution.actors import Actors
from rlgraph.execution.engine import ActorDied, ActorFailed, ActorFault, Engine
from rlgraph.execution.sampling import Sample


@dataclass(frozen=True)
class _Request:
    number: int
    incarnation: int
    until: float


class Requests:
    """Asks actors for fragments; those that fail are started again and asked once more.

    Args:
        engine: where the actors live.
        actors: the actors.
        read: makes a sample of a message; its errors count as failures.
        start_timeout, sample_timeout: seconds until the first fragment of an actor, and until any other.
    """

    def __init__(
        self,
        engine: Engine,
        actors: Actors,
        read: Callable[[bytes], Sample],
        start_timeout: float,
        sample_timeout: float,
    ):
        self._engine, self._actors, self._read = engine, actors, read
        self._timeouts = (start_timeout, sample_timeout)
        self._requests: dict[Any, _Request] = {}
        #: Actors that have sent something since they were started.
        self._answered: set[int] = set()
        #: What all actors act with; see `Engine.share`.
        self.weights: Any = None

    def __len__(self) -> int:
        return len(self._requests)

    def ask(self, number: int) -> None:
        """Ask actor `number` for a fragment of `weights`."""
        call = self._actors.call(number, "sample", self.weights)
        until = time.monotonic() + self._timeout(number)
        self._requests[call] = _Request(number, self._actors.incarnations[number], until)

    def receive(self) -> list[Sample]:
        """Wait for at least one fragment; returns those that arrived, in the order in which they were asked for.

        Raises:
            TooManyRestarts: actors failed more often than is allowed.
        """
        samples: list[Sample] = []
        while self._requests and not samples:
            now = time.monotonic()
            first = min(request.until for request in self._requests.values())
            done = self._engine.wait(list(self._requests), max(first - now, 0.0))
            now = time.monotonic()
            late = [c for c, request in self._requests.items() if request.until < now and c not in done]
            for call in [*done, *late]:
                sample = self._received(call, self._requests.pop(call), call in late)
                samples += [sample] if sample is not None else []
        return samples

    def _received(self, call: Any, request: _Request, is_late: bool) -> Sample | None:
        """The sample of a request; None if there is none, and the actor was asked again."""
        number = request.number
        if request.incarnation == self._actors.incarnations[number]:
            try:
                sample = self._sample(call, number, is_late)
            except ActorFault as fault:
                self._answered.discard(number)
                self._actors.restart(number, fault)
            else:
                self._answered.add(number)
                return sample
        self.ask(number)  # the actor that was asked is gone
        return None

    def _sample(self, call: Any, number: int, is_late: bool) -> Sample:
        """The sample of a call that is done.

        Raises:
            ActorFault: the call is late or failed, or its message is not a sample.
        """
        if is_late:
            raise ActorDied(f"actor {number} sent nothing for {self._timeout(number):g} s")
        message = self._engine.result(call)
        try:
            return self._read(message)
        except Exception as error:
            raise ActorFailed(f"actor {number}: expected the message of a fragment: {error}") from error

    def _timeout(self, number: int) -> float:
        return self._timeouts[number in self._answered]
