"""What strangers send to the port of a group: nothing of it is counted, and nothing of it holds the group."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from rlgraph.core import CollectiveError
from rlgraph.core.addresses import free_address
from rlgraph.core.collectives import connection, membership
from rlgraph.core.collectives.connection import (
    ERROR,
    GREETINGS,
    MAX_MESSAGE,
    Line,
    report_failure,
    using_secret,
)
from rlgraph.core.collectives.membership import Membership

#: Connections of the strangers of a test.
opened: list[Line] = []


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    while opened:
        opened.pop().close()


def reached(address: str) -> Line:
    """A connection to who listens at an address, or soon will."""
    host, port = address.split(":")
    until = time.monotonic() + 5.0
    while True:
        try:
            opened.append(Line(socket.create_connection((host, int(port)), 1.0)))
            return opened[-1]
        except OSError:
            assert time.monotonic() < until
            time.sleep(0.01)


def first(address: str, timeout: float, found: list[Any], size: int = 2) -> threading.Thread:
    """Learner 0 of a group with a secret, in a thread; what it made or raised is put into `found`."""

    def join() -> None:
        try:
            with using_secret("right"):
                found.append(Membership(0, size, address, timeout))
        except CollectiveError as error:
            found.append(str(error))

    thread = threading.Thread(target=join, daemon=True)
    thread.start()
    return thread


def trickle(line: Line) -> None:
    with suppress(OSError):
        while True:
            line.socket.sendall(b"x")
            time.sleep(0.1)


def garbage(line: Line) -> None:
    line.socket.sendall(b"\xff" * 4096)


def claims_to_be_1(line: Line) -> None:
    """What a learner sent before there was a secret."""
    line.socket.sendall(b"rlgraph1" + struct.pack("!II", 1, 2) + struct.pack("!cQ", b"H", 0))


def silent(line: Line) -> None:
    pass


@pytest.mark.parametrize("attack", [trickle, garbage, claims_to_be_1, silent])
def test_strangers_hold_nobody_and_are_not_counted(attack: Callable[[Line], None]) -> None:
    address, found = free_address(), list[Any]()
    joining = first(address, 20.0, found)
    strangers = [reached(address) for _ in range(8)]
    for line in strangers:
        threading.Thread(target=attack, args=(line,), daemon=True).start()
    time.sleep(0.3)
    assert not found
    began = time.monotonic()
    with using_secret("right"):
        second = Membership(1, 2, address, 5.0)
    joining.join(5.0)
    assert time.monotonic() - began < 2.0
    assert isinstance(found[0], Membership) and second.hosts == found[0].hosts
    second.close()
    found[0].close()


def test_a_handshake_as_a_whole_has_a_limit_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HANDSHAKE", 0.5)
    address, found = free_address(), list[Any]()
    joining = first(address, 2.0, found)
    line, began = reached(address), time.monotonic()
    threading.Thread(target=trickle, args=(line,), daemon=True).start()
    line.read(8 + 32)  # the question
    with suppress(OSError):
        while line.socket.recv(1000):
            pass
    assert time.monotonic() - began < 1.5
    joining.join(10.0)
    assert found[0].startswith(
        f"learner 1 of 2 did not come to {address} within 2 s. A connection was refused:"
    )


def test_the_secret_is_asked_for_first_and_wrong_ones_are_named_on_both_sides() -> None:
    address, found = free_address(), list[Any]()
    joining = first(address, 1.0, found)
    with pytest.raises(
        CollectiveError, match="secret is not that of learner 0: give all .* RLGRAPH_GROUP_SECRET"
    ):
        Membership(1, 2, address, 5.0)
    assert not report_failure(1, 2, address, "wrong", "no such device")
    joining.join(10.0)
    assert "learner 1 of 2 did not come" in found[0] and "the secret is not that of learner 0" in found[0]


def test_learners_do_not_tell_a_stranger_at_the_address_who_they_are() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        heard = []

        def answer() -> None:
            line = Line(server.accept()[0])
            opened.append(line)
            line.socket.sendall(b"rlgraph2" + bytes(32))
            heard.append(line.read(64))
            line.send(GREETINGS, bytes(32))
            with suppress(OSError):
                heard.append(line.socket.recv(100))

        answering = threading.Thread(target=answer, daemon=True)
        answering.start()
        with using_secret("right"), pytest.raises(CollectiveError, match="it does not know the secret"):
            Membership(1, 2, address, 5.0)
        answering.join(5.0)
        assert len(heard[0]) == 64 and heard[1:] in ([], [b""])


def test_long_greetings_wrong_ranks_and_words_that_are_no_text_are_refused() -> None:
    address, found = free_address(), list[Any]()
    joining = first(address, 10.0, found, size=3)
    with using_secret("right"):
        long = reached(address)
        long.send = lambda *_: long.socket.sendall(struct.pack("!cQ", b"H", 1 << 40))  # type: ignore[method-assign]
        long.introduce(1, 3, GREETINGS, b"")
        assert long.receive(1000, time.monotonic() + 5.0) == (
            ERROR,
            b"expected a message of at most 65,536 bytes, given one of 1,099,511,627,776",
        )
        for rank in (0, 3, 2**32 - 1):
            wrong = reached(address)
            wrong.introduce(rank, 3, GREETINGS, b"")
            said = wrong.receive(1000, time.monotonic() + 5.0)[1].decode()
            assert said == f"expected learners 1 to 2, given learner {rank}"
        assert not found
        reached(address).introduce(2, 3, ERROR, b"\xff\xfe")
    joining.join(5.0)
    assert found[0].startswith("learner 2 could not start: \N{REPLACEMENT CHARACTER}")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (membership._BEAT, b"\xff\xfe"),
        (membership._BEAT, b"[" * 100_000),
        (membership._BEAT, b'[[1, null, 0, ""]]'),
        (membership._LEAVE, b'["gone", "x"]'),
        (membership._LEAVE, b"{}"),
        (membership._LOST, b"[1]"),
        (b"G", None),
    ],
)
def test_a_learner_that_sends_no_message_is_lost_at_once(kind: bytes, message: bytes | None) -> None:
    address, found = free_address(), list[Any]()
    joining = first(address, 5.0, found)
    with using_secret("right"):
        second = Membership(1, 2, address, 5.0)
    joining.join(5.0)
    line = second._lines[0]
    if message is None:
        line.socket.sendall(struct.pack("!cQ", kind, 1 << 40))
    else:
        line.send(kind, message)
    fault = "learner 1 of 2 is lost: what it sent is no message of a learner"
    assert found[0].wait_for_fault(2.0) == fault
    second.close()
    found[0].close()


def test_messages_that_are_too_long_are_refused_where_they_are_sent() -> None:
    address, found = free_address(), list[Any]()
    joining = first(address, 5.0, found)
    with using_secret("right"):
        second = Membership(1, 2, address, 5.0)
    joining.join(5.0)

    class Long(bytes):
        def __len__(self) -> int:
            return MAX_MESSAGE

    with pytest.raises(CollectiveError, match="expected a message of at most 1,073,741,816 bytes"):
        second.gather(Long())
    second.close()
    found[0].close()
