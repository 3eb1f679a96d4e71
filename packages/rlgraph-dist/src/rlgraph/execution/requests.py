"""Calls of actors that are under way, each with a time limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rlgraph.execution.actors import Actors
from rlgraph.execution.engine import ActorDied, ActorFailed, ActorFault, Engine
from rlgraph.execution.sampling import Sample


@dataclass(frozen=True)
class Answer:
    """What came of a call.

    Attributes:
        number: of the actor.
        incarnation: of the actor when it was called.
        method: that was called.
        value: what was read of it; None: the actor failed, and was started again.
        about: what its caller gave with the call.
    """

    number: int
    incarnation: int
    method: str
    value: Any
    about: Any


@dataclass(frozen=True)
class _Call:
    number: int
    incarnation: int
    method: str
    until: float
    about: Any


class Calls:
    """Calls actors and reads what they answer; those that fail are started again.

    Args:
        engine: where the actors live.
        actors: the actors.
        read: ``(method, facts, body)`` -> value of an answer, the body a reference; its errors count as failures of the
            actor.
        start_timeout, timeout: seconds until the first answer of an actor, and until any other.
    """

    def __init__(
        self,
        engine: Engine,
        actors: Actors,
        read: Callable[[str, bytes, Any], Any],
        start_timeout: float,
        timeout: float,
    ):
        self._engine, self._actors, self._read = engine, actors, read
        self._timeouts = (start_timeout, timeout)
        self._calls: dict[Any, _Call] = {}
        #: Actors that have answered since they were started.
        self._answered: set[int] = set()

    def __len__(self) -> int:
        return len(self._calls)

    def call(self, number: int, method: str, *arguments: Any, about: Any = None) -> None:
        """Call a method of actor `number`; the answer has what it is `about`."""
        call = self._actors.call(number, method, *arguments)
        until = self._engine.now() + self._timeout(number)
        self._calls[call] = _Call(number, self._actors.incarnations[number], method, until, about)

    def answers(self, waits: bool = True) -> list[Answer]:
        """The answers that are there, in the order of the calls; an actor's only after those to its earlier calls.

        Args:
            waits: whether to wait until there is one; calls must be under way then.

        Raises:
            TooManyRestarts: actors failed more often than is allowed.
        """
        if not self._calls:
            return []
        first = min(call.until for call in self._calls.values())
        done: set[Any] = set()
        while True:
            timeout = max(first - self._engine.now(), 0.0) if waits else 0.0
            more = self._engine.wait([key for key in self._calls if key not in done], timeout)
            done.update(more)
            ready = self._in_turn(done)
            if ready or not more or not waits:
                break
        now = self._engine.now()
        late = [key for key, call in self._calls.items() if call.until < now and key not in done]
        return [self._answer(key, self._calls.pop(key), key in late) for key in [*ready, *late]]

    def _in_turn(self, done: set[Any]) -> list[Any]:
        """The calls that are done, without those that came before an earlier one of their actor."""
        ready, waiting = [], set()
        for key, call in self._calls.items():
            if key not in done:
                waiting.add((call.number, call.incarnation))
            elif (call.number, call.incarnation) not in waiting:
                ready.append(key)
        return ready

    def fail(self, number: int, incarnation: int, fault: ActorFault) -> None:
        """Start actor `number` again, which failed in this incarnation; nothing if that is gone.

        Raises:
            TooManyRestarts: actors failed more often than is allowed.
        """
        if incarnation == self._actors.incarnations[number]:
            self._restart(number, fault)

    def _restart(self, number: int, fault: ActorFault) -> None:
        self._answered.discard(number)
        self._actors.restart(number, fault)

    def _answer(self, key: Any, call: _Call, is_late: bool) -> Answer:
        number, value = call.number, None
        if call.incarnation == self._actors.incarnations[number]:  # else the actor that was called is gone
            try:
                value = self._value(key, call, is_late)
            except ActorFault as fault:
                self._restart(number, fault)
            else:
                self._answered.add(number)
        return Answer(number, call.incarnation, call.method, value, call.about)

    def _value(self, key: Any, call: _Call, is_late: bool) -> Any:
        """What was read of the result of a call that is done.

        Raises:
            ActorFault: the call is late or failed, or its result is something else.
        """
        name = self._actors.name_of(call.number)
        if is_late:
            raise ActorDied(f"{name} sent nothing for {self._timeout(call.number):g} s")
        facts, body = self._engine.result(key)
        try:
            return self._read(call.method, facts, body)
        except ActorFault:
            raise
        except Exception as error:
            raise ActorFailed(
                f"{name}: expected the message of an answer to {call.method!r}: {error}"
            ) from error

    def _timeout(self, number: int) -> float:
        return self._timeouts[number in self._answered]


class Requests(Calls):
    """Asks actors for fragments; those that fail are asked once more.

    Args:
        engine, actors, start_timeout, timeout: see `Calls`.
        read: makes a sample of facts and the reference to its body; its errors count as failures.
    """

    def __init__(
        self,
        engine: Engine,
        actors: Actors,
        read: Callable[[bytes, Any], Sample],
        start_timeout: float,
        timeout: float,
    ):
        super().__init__(engine, actors, lambda _, *result: read(*result), start_timeout, timeout)
        #: What all actors act with; see `Engine.share`.
        self.weights: Any = None
        #: Fragments that were asked for and did not come, since their actor failed.
        self.lost = 0

    def ask(self, number: int) -> None:
        """Ask actor `number` for a fragment of `weights`."""
        self.call(number, "sample", self.weights)

    def receive(self) -> list[Sample]:
        """Wait for at least one fragment; returns those that arrived, in the order in which they were asked for.

        Raises:
            TooManyRestarts: actors failed more often than is allowed.
        """
        samples: list[Sample] = []
        while len(self) and not samples:
            for answer in self.answers():
                if answer.value is None:
                    self.lost += 1
                    self.ask(answer.number)
                else:
                    samples.append(answer.value)
        return samples
