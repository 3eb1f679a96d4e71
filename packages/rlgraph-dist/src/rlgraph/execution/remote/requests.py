"""Calls of actors that are under way, each with a time limit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from typing import Any

from rlgraph.execution.engine import ActorDied, ActorFailed, ActorFault, Engine
from rlgraph.execution.remote.actors import Actors
from rlgraph.execution.remote.sampling import Sample
from rlgraph.experience.fragment import Origin


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
    timeout: float
    about: Any

    @property
    def actor(self) -> tuple[int, int]:
        """What does the calls of one queue, in turn."""
        return self.number, self.incarnation


class Calls:
    """Calls actors and reads what they answer; those that fail are started again.

    Args:
        engine: where the actors live.
        actors: the actors.
        read: ``(method, facts, body)`` -> value of an answer, the body a reference; its errors count as failures of the
            actor.
        start_timeout, timeout: seconds until the first answer of an actor, and from each answer to the next one that is
            due.
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
        #: (actor, incarnation) with calls under way -> when it began with the first of these.
        self._since: dict[tuple[int, int], float] = {}
        #: Actors that have answered since they were started.
        self._answered: set[int] = set()

    def __len__(self) -> int:
        return len(self._calls)

    def call(
        self, number: int, method: str, *arguments: Any, about: Any = None, timeout: float | None = None
    ) -> None:
        """Call a method of actor `number`; the answer has what it is `about`.

        Args:
            timeout: seconds that it may take; None: as any other.
        """
        key = self._actors.call(number, method, *arguments)
        timeout = self._timeouts[number in self._answered] if timeout is None else timeout
        call = _Call(number, self._actors.incarnations[number], method, timeout, about)
        self._calls[key] = call
        self._since.setdefault(call.actor, self._engine.now())

    def answers(self, waits: bool = True, until: float = inf) -> list[Answer]:
        """The answers that are there, in the order of the calls; an actor's only after those to its earlier calls.

        Args:
            waits: whether to wait until there is one; calls must be under way then.
            until: time of the engine at which it stops waiting.

        Raises:
            TooManyRestarts: actors failed more often than is allowed.
        """
        if not self._calls:
            return []
        due = self._due()
        first = min(*due.values(), until)
        done: set[Any] = set()
        while True:
            timeout = max(first - self._engine.now(), 0.0) if waits else 0.0
            more = self._engine.wait([key for key in self._calls if key not in done], timeout)
            done.update(more)
            ready = self._in_turn(done)
            if ready or not more or not waits:
                break
        now = self._engine.now()
        late = [key for key, call in self._calls.items() if due[call.actor] < now and key not in done]
        taken = {key: self._calls.pop(key) for key in [*ready, *late]}
        self._begin_next(taken.values(), now)
        return [self._answer(key, call, key in late) for key, call in taken.items()]

    def _due(self) -> dict[tuple[int, int], float]:
        """(actor, incarnation) -> when the answer to the first of its calls is due."""
        due: dict[tuple[int, int], float] = {}
        for call in self._calls.values():
            due.setdefault(call.actor, self._since[call.actor] + call.timeout)
        return due

    def _begin_next(self, answered: Iterable[_Call], now: float) -> None:
        """The actors of calls that are answered begin with their next ones."""
        waiting = {call.actor for call in self._calls.values()}
        for call in answered:
            self._since.pop(call.actor, None)
            if call.actor in waiting:
                self._since[call.actor] = now

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
            raise ActorDied(f"{name} sent nothing for {call.timeout:g} s")
        facts, body = self._engine.result(key)
        try:
            return self._read(call.method, facts, body)
        except ActorFault:
            raise
        except Exception as error:
            raise ActorFailed(
                f"{name}: expected the message of an answer to {call.method!r}: {error}"
            ) from error


class Requests(Calls):
    """Asks actors for fragments; those that fail are asked once more.

    Args:
        engine, actors, start_timeout, timeout: see `Calls`.
        read: makes a sample of facts and the reference to its body; its errors count as failures.
        most_steps: environment steps of a fragment, at most.
    """

    def __init__(
        self,
        engine: Engine,
        actors: Actors,
        read: Callable[[bytes, Any], Sample],
        start_timeout: float,
        timeout: float,
        most_steps: int,
    ):
        super().__init__(engine, actors, lambda _, *result: read(*result), start_timeout, timeout)
        self._most_steps = most_steps
        #: Actor -> its incarnation and number of the fragment that it sends next.
        self._next: dict[int, tuple[int, int]] = {}
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
        assert len(self), "no fragment was asked for"
        samples: list[Sample] = []
        while not samples:
            for answer in self.answers():
                if answer.value is not None and self._is_next(answer):
                    samples.append(answer.value)
                else:
                    self.lost += 1
                    self.ask(answer.number)
        return samples

    def _is_next(self, answer: Answer) -> bool:
        """Whether a sample is the next one of its actor; if not, the actor is started again.

        Raises:
            TooManyRestarts: actors failed more often than is allowed.
        """
        number, incarnation, sample = answer.number, answer.incarnation, answer.value
        expected = self._next.get(number, (0, 0))
        expected = expected if expected[0] == incarnation else (incarnation, 0)
        origin = Origin(number, *expected)
        if sample.origin == origin and 0 <= sample.steps <= self._most_steps:
            self._next[number] = incarnation, origin.number + 1
            return True
        fault = (
            f"{self._actors.name_of(number)}: expected {origin} of at most {self._most_steps} steps, given "
            f"{sample.origin} of {sample.steps}"
        )
        self.fail(number, incarnation, ActorFailed(fault))
        return False
