"""Who is in a group of learners: the error names who has not come, and later who is lost or late.

Learner 0 listens; each of the others keeps one connection to it as long as the group lasts. The system closes the
connections of a process that ends, however it ends, so the others know at once. Every second each learner says how many
calls it has begun and how long it has waited in them: this names who is missing in a call, and who is slow.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue

from rlgraph.core.addresses import connect, host_and_port
from rlgraph.core.collectives.connection import (
    ERROR,
    GREETINGS,
    MAX_GREETING,
    MAX_MESSAGE,
    Line,
    pack_all,
    unpack_all,
)
from rlgraph.core.errors import CollectiveError

#: Why a learner is gone that closed its collective.
LEFT = "it has left the group"
#: Seconds between two beats.
BEAT = 1.0
#: Seconds after the limit of a call at which it is ended, if what adds up has not ended it.
_GRACE = 1.0
#: Handshakes at a time: strangers must not use up the files of the process.
_MAX_HANDSHAKES = 100
_GATHER, _BEAT, _LOST, _LEAVE = b"G", b"B", b"L", b"X"


@dataclass(frozen=True)
class Beat:
    """What a learner says of itself.

    Attributes:
        calls: collective calls begun.
        waited: seconds spent in them.
        at: when it was heard, by `time.monotonic`.
        does: what it does in the newest.
    """

    calls: int = 0
    waited: float = 0.0
    at: float = 0.0
    does: str = ""


class Membership:
    """A learner's membership of a group; made when all have come.

    Args:
        rank, size, address, timeout: see `rlgraph.core.Collective`.
        greeting: what the others are to know of this learner from the start.

    Attributes:
        greetings, hosts: what they say, and the addresses of their machines, by rank.

    Raises:
        CollectiveError: somebody did not come in time, is of another group, or the port is in use.
    """

    def __init__(self, rank: int, size: int, address: str, timeout: float, greeting: bytes = b""):
        self.rank, self.size, self.timeout = rank, size, timeout
        #: What happened to the group; empty while it lives.
        self.fault = ""
        #: The learner that it happened to, where that is known.
        self.lost: int | None = None
        #: Called once, in the thread that watches, when the group has failed.
        self.on_fault: Callable[[], None] | None = None
        self.beats = [Beat() for _ in range(size)]
        #: Own numbers; written by who makes calls.
        self.calls, self.waited, self.does = 0, 0.0, ""
        #: When the present call began, by `time.monotonic`; None: there is none.
        self.began: float | None = None
        self._changed = threading.Condition()
        self._given: dict[int, bytes] = {}
        self._gathered: list[bytes] | None = None
        self._is_closed = False
        #: Rank -> connection: of learner 0 to all others, of these to learner 0.
        self._lines: dict[int, Line] = {}
        self._until = time.monotonic() + timeout
        #: What is known of the last connection that was refused.
        self._stranger = ""
        known = self._receive_all(address, greeting) if rank == 0 else self._go_to(address, greeting)
        self.greetings, self.hosts = known[:size], [host.decode() for host in known[size:]]
        for other, line in self._lines.items():
            threading.Thread(target=self._listen, args=(other, line), daemon=True).start()
        threading.Thread(target=self._beat, daemon=True).start()

    # The start.

    def _receive_all(self, address: str, greeting: bytes) -> list[bytes]:
        """Learner 0: wait for all others; returns the greetings, then the hosts."""
        greetings = {0: greeting}
        host = address.rpartition(":")[0]
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as server:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                server.bind(host_and_port(address))
            except OSError as error:
                raise CollectiveError(
                    f"learner 0 cannot listen on {address} ({error.strerror}): name an address of this machine "
                    "and a free port"
                ) from None
            server.listen(_MAX_HANDSHAKES)
            server.settimeout(0.02)
            arrived: SimpleQueue[tuple[Line, int, int, bytes, bytes]] = SimpleQueue()
            handshakes: list[threading.Thread] = []
            while len(greetings) < self.size:
                # Each in a thread: a stranger that is slow holds nobody.
                handshakes = [each for each in handshakes if each.is_alive()]
                if len(handshakes) < _MAX_HANDSHAKES:
                    with suppress(OSError):
                        ask = partial(copy_context().run, self._ask, Line(server.accept()[0]), arrived)
                        handshakes.append(threading.Thread(target=ask, daemon=True))
                        handshakes[-1].start()
                with suppress(Empty):
                    self._take_in(greetings, *arrived.get(timeout=1e-3))
                if time.monotonic() > self._until and len(greetings) < self.size:
                    missing = _named([rank for rank in range(self.size) if rank not in greetings])
                    late = f"{missing} of {self.size} did not come to {address} within {self.timeout:g} s"
                    self._refuse(f"{late}. {self._stranger}" if self._stranger else late)
        hosts = [host, *(self._lines[rank].socket.getpeername()[0] for rank in range(1, self.size))]
        known = [*(greetings[rank] for rank in range(self.size)), *(host.encode() for host in hosts)]
        for line in self._lines.values():
            line.send(GREETINGS, pack_all(known))
        return known

    def _ask(self, line: Line, arrived: SimpleQueue[tuple[Line, int, int, bytes, bytes]]) -> None:
        """Ask who comes who it is; strangers are turned away."""
        try:
            rank, size, kind, greeting = line.welcome()
            if size == self.size and not 0 < rank < size:
                raise ValueError(f"expected learners 1 to {size - 1}, given learner {rank}")
            arrived.put((line, rank, size, kind, greeting))
        except (OSError, ValueError) as error:
            self._stranger = f"A connection was refused: {error}"
            with suppress(OSError):
                line.send(ERROR, str(error).encode())
            line.close()

    def _take_in(
        self, greetings: dict[int, bytes], line: Line, rank: int, size: int, kind: bytes, greeting: bytes
    ) -> None:
        """A learner that knows the secret has come."""
        self._lines[-1] = line  # it hears of a refusal, too
        if size != self.size:
            self._refuse(
                f"learner {rank} was started for a group of {size}, learner 0 for one of {self.size}"
            )
        if kind == ERROR:
            self._refuse(f"learner {rank} could not start: {greeting.decode(errors='replace')}")
        if rank in greetings:
            self._refuse(f"two processes came as learner {rank}: each needs a rank of its own")
        greetings[rank], self._lines[rank] = greeting, self._lines.pop(-1)

    def _refuse(self, text: str) -> None:
        """Tell all who came why there is no group.

        Raises:
            CollectiveError: always.
        """
        for line in self._lines.values():
            with suppress(OSError):
                line.send(ERROR, text.encode()[:MAX_GREETING])
            line.close()
        raise CollectiveError(text)

    def _go_to(self, address: str, greeting: bytes) -> list[bytes]:
        """All others: find learner 0, which may start later; returns the greetings, then the hosts."""
        line, late = None, f"learner 0 did not come to {address} within {self.timeout:g} s"
        while line is None:
            try:
                connection = connect(address, max(self._until - time.monotonic(), 0.1))
                if connection.getsockname() == connection.getpeername():
                    connection.close()  # a free port of this machine: it has connected to itself
                    raise ConnectionRefusedError
                line = Line(connection)
            except OSError:
                if time.monotonic() > self._until:
                    raise CollectiveError(late) from None
                time.sleep(0.05)
        self._lines[0] = line
        try:
            line.introduce(self.rank, self.size, GREETINGS, greeting)
            # Learner 0 names who is missing at the end of its own time, which may have begun later.
            kind, message = line.receive(2 * self.size * MAX_GREETING, time.monotonic() + self.timeout + 5.0)
            if kind == ERROR:
                raise CollectiveError(message.decode(errors="replace"))
            known = unpack_all(message)
            if len(known) != 2 * self.size:
                raise ValueError(f"expected {2 * self.size} greetings and hosts, given {len(known)}")
        except (OSError, ValueError, CollectiveError) as error:
            line.close()
            if isinstance(error, CollectiveError):
                raise
            raise CollectiveError(
                f"the group has not come together: learner 0 at {address} did not answer ({error})"
            ) from None
        return known

    # While the group lasts.

    def _listen(self, other: int, line: Line) -> None:
        """Read what learner `other` sends, until it leaves or is lost."""
        why, calls = "its process has ended", 0
        try:
            while True:
                kind, message = line.receive(MAX_MESSAGE * self.size)
                if kind == _LEAVE:
                    given = json.loads(message)
                    why, calls = str(given[0]), int(given[1])
                    break
                self._hear(other, kind, message)
        except OSError:
            pass
        except Exception:  # whatever its bytes are, the group must hear of it
            why, calls = "what it sent is no message of a learner", 0
        self._lose(other, why, calls)

    def _hear(self, other: int, kind: bytes, message: bytes) -> None:
        if kind == _GATHER and self.rank == 0:
            self._give(other, message)
        elif kind == _GATHER:
            with self._changed:
                self._gathered = unpack_all(message)
                self._changed.notify_all()
        elif kind == _BEAT:
            now = time.monotonic()
            for rank, calls, waited, does in json.loads(message):
                if rank in range(self.size) and rank != self.rank:
                    self.beats[rank] = Beat(int(calls), float(waited), now, str(does))
        elif kind == _LOST:
            lost, why, calls = json.loads(message)
            self._lose(int(lost), str(why), int(calls))

    def _beat(self) -> None:
        while not self._is_closed:
            self.beats[self.rank] = Beat(self.calls, self.waited, time.monotonic(), self.does)
            known = range(self.size) if self.rank == 0 else (self.rank,)
            beats = [(rank, self.beats[rank]) for rank in known]
            said = [(rank, beat.calls, beat.waited, beat.does) for rank, beat in beats]
            self._send_all(_BEAT, json.dumps(said).encode())
            self._check_limit()
            time.sleep(BEAT)

    def _check_limit(self) -> None:
        """End a call that others do not join in time: some frameworks have no limit."""
        began = self.began
        if began is None or time.monotonic() - began <= self.timeout + _GRACE:
            return
        why = self.who_is_late()
        if self.began == began:
            self._end(why)

    def _send_all(self, kind: bytes, message: bytes) -> None:
        for line in self._lines.values():
            with suppress(OSError):  # who listens there finds out
                line.send(kind, message)

    def _lose(self, rank: int, why: str, calls: int) -> None:
        """The first learner that is lost ends the group; learner 0 tells the others.

        One that has left has done its part of `calls` calls: the last of them may end here.
        """
        own = self.calls
        while self.began is not None and self.calls == own <= calls and not self.fault:
            time.sleep(1e-3)
        lost = json.dumps([rank, why, calls]).encode()
        tell = partial(self._send_all, _LOST, lost) if self.rank == 0 else None
        self._end(f"learner {rank} of {self.size} is lost: {why}", rank, tell)

    def _end(self, fault: str, lost: int | None = None, tell: Callable[[], None] | None = None) -> None:
        """The first fault ends the group."""
        with self._changed:
            if self.fault or self._is_closed:
                return
            self.lost, self.fault = lost, fault
            self._changed.notify_all()
        if tell is not None:
            tell()
        if self.on_fault is not None:
            self.on_fault()

    def gather(self, message: bytes) -> list[bytes]:
        """What every learner gives, by rank.

        Raises:
            CollectiveError: a learner is lost, or did not come in time; or the message is too long.
        """
        if len(message) > MAX_MESSAGE - 8:
            raise CollectiveError(
                f"expected a message of at most {MAX_MESSAGE - 8:,} bytes, given one of {len(message):,}"
            )
        try:
            if self.rank == 0:
                self._give(0, message)
            else:
                self._lines[0].send(_GATHER, message)
        except OSError:
            self.wait_for_fault(1.0)
        with self._changed:
            self._changed.wait_for(lambda: self._gathered is not None or self.fault, self.timeout)
            gathered, self._gathered = self._gathered, None
        if gathered is None:
            raise CollectiveError(self.fault or self.who_is_late())
        return gathered

    def _give(self, rank: int, message: bytes) -> None:
        """Learner 0: what a learner gives; when all have given, all get it."""
        with self._changed:
            self._given[rank] = message
            if len(self._given) < self.size:
                return
            everything = [self._given[rank] for rank in range(self.size)]
            self._given = {}
        self._send_all(_GATHER, pack_all(everything))
        with self._changed:
            self._gathered = everything
            self._changed.notify_all()

    def wait_for_fault(self, seconds: float) -> str:
        """Wait up to `seconds` for a fault of the group, and return it; empty if there is none."""
        with self._changed:
            self._changed.wait_for(lambda: self.fault, seconds)
            return self.fault

    def who_is_late(self) -> str:
        """Names the learners that have not begun the present call, or make another one."""
        time.sleep(1.5 * BEAT)  # the newest beats are there then
        now = time.monotonic()
        others = [(rank, beat) for rank, beat in enumerate(self.beats) if rank != self.rank]
        late = [rank for rank, beat in others if beat.calls < self.calls or now - beat.at > 5.0 * BEAT]
        for rank, beat in others:
            if not late and beat.calls == self.calls and beat.does != self.does:
                return (
                    f"in call {self.calls} learner {self.rank} {self.does}, and learner {rank} of {self.size} "
                    f"{beat.does}: all must make the same calls in the same order"
                )
        who = _named(late) if late else "another learner"
        return f"{who} of {self.size} did not come to call {self.calls} within {self.timeout:g} s"

    def close(self, why: str = "") -> None:
        """Leave; the others are told why."""
        if not self._is_closed:
            self._is_closed = True
            left = [why, 0] if why else [LEFT, self.calls]
            self._send_all(_LEAVE, json.dumps(left).encode())
            for line in self._lines.values():
                line.close()


def _named(ranks: Sequence[int]) -> str:
    return f"learner{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}"
