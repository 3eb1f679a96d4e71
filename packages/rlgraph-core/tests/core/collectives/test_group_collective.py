"""Joining groups, and naming who is missing, lost or late: learners in threads, over real connections."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from rlgraph.core import CollectiveError, SpecError, registry
from rlgraph.core.addresses import free_address
from rlgraph.core.collectives import membership
from rlgraph.core.collectives.group_collective import GroupCollective
from rlgraph.core.collectives.place import Place, make_collective, place_from_environment


class Connected(GroupCollective):
    """Adds up what everybody sends to everybody."""

    def start(self) -> None:
        pass

    def sum(self, array: np.ndarray) -> np.ndarray:
        parts = self.membership.gather(array.tobytes())
        return np.add.reduce([np.frombuffer(part, array.dtype) for part in parts])

    def stop(self) -> None:
        pass


class Endless(Connected):
    """Waits for ever for those that do not come."""

    def start(self) -> None:
        self.is_over = threading.Event()

    def sum(self, array: np.ndarray) -> np.ndarray:
        self.is_over.wait()
        raise ValueError("aborted")

    def abort(self) -> None:
        self.is_over.set()


class Unequal(Endless):
    """Learner 0 has its sum as soon as all are in the call, the others have theirs later."""

    def sum(self, array: np.ndarray) -> np.ndarray:
        self.membership.gather(b"")
        if self.rank and self.is_over.wait(0.5):
            raise ValueError("aborted")
        return array


class Stuck(Connected):
    """Learner 0 waits for ever for the others to start, and learner 1 is lost then."""

    def start(self) -> None:
        if self.rank == 0:
            threading.Event().wait()
        for line in self.membership._lines.values():
            line.close()


class Failing(Connected):
    def start(self) -> None:
        if self.rank == 1:
            raise ValueError("no such device")

    def stop(self) -> None:
        stopped.append(self.rank)


class Waiting(Failing):
    """Connects to nobody, and has no limit of its own."""

    def start(self) -> None:
        threading.Event().wait()


#: Ranks of the learners of `Failing` and `Waiting` that have left the framework's group.
stopped: list[int] = []


def together(*learners: Callable[[], Any]) -> list[Any]:
    """What learners in threads return or raise."""

    def outcome(learner: Callable[[], Any]) -> Any:
        try:
            return learner()
        except CollectiveError as error:
            return str(error)

    with ThreadPoolExecutor(len(learners)) as pool:
        return list(pool.map(outcome, learners))


def group(size: int, timeout: float = 5.0, kind: type[GroupCollective] = Connected) -> list[Any]:
    address = free_address()
    return together(*(lambda rank=rank: kind(rank, size, address, timeout) for rank in range(size)))


def test_learners_add_up_and_exchange_messages_of_any_length():
    learners = group(3)
    sums = together(*(lambda each=each: each.all_reduce(np.full(3, 10.0**each.rank)) for each in learners))
    assert all(np.array_equal(each, np.full(3, 111.0)) for each in sums)
    messages = together(*(lambda each=each: each.all_gather(b"x" * each.rank) for each in learners))
    assert messages == [[b"", b"x", b"xx"]] * 3
    for each in learners:
        each.close()
    assert "it has left the group" in together(lambda: learners[0].all_reduce(np.ones(1)))[0]


def test_a_lost_learner_is_named_to_all_and_ends_the_group():
    first, second, third = group(3)
    for line in third.membership._lines.values():  # as the system does when a process ends
        line.close()
    said = together(*(lambda each=each: each.all_reduce(np.ones(2)) for each in (first, second)))
    for rank, text in enumerate(said):
        assert text.startswith(f"learner {rank}: learner 2 of 3 is lost: its process has ended.")
        assert "start its learners again from a checkpoint" in text
    assert "learner 2 of 3 is lost" in together(lambda: first.all_gather(b""))[0]
    assert first.membership.lost == 2


def test_learner_0_is_named_by_those_that_remain():
    first, *others = group(3)
    first.close()
    for text in together(*(lambda each=each: each.all_reduce(np.ones(2)) for each in others)):
        assert "learner 0 of 3 is lost: it has left the group" in text


def test_a_learner_may_leave_while_others_are_still_in_its_last_call():
    first, *others = group(3, kind=Unequal)

    def last_call() -> None:
        first.all_reduce(np.ones(1))
        first.close()

    sums = together(last_call, *(lambda each=each: each.all_reduce(np.ones(1)) for each in others))[1:]
    assert sums == [np.ones(1)] * 2
    for each in others:
        assert (
            "learner 0 of 3 is lost: it has left" in together(lambda each=each: each.all_reduce(sums[0]))[0]
        )


def test_a_learner_that_does_not_come_to_a_call_is_named():
    learners = group(3, timeout=0.5)
    present = [learners[0], learners[2]]
    said = together(*(lambda each=each: each.all_reduce(np.ones(2)) for each in present))
    assert "learner 1 of 3 did not come to call 1 within 0.5 s" in said[0]
    assert all("learner 1 of 3 did not come" in text or "learner 0 of 3 is lost" in text for text in said)


def test_a_call_that_waits_for_ever_is_ended_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(membership, "BEAT", 0.1)
    first, second = group(2, timeout=0.5, kind=Endless)
    text = together(lambda: first.all_reduce(np.ones(2)))[0]
    assert text.startswith(
        "learner 0: learner 1 of 2 did not come to call 1 within 0.5 s. The group has ended"
    )
    assert "did not come to call 1" in together(lambda: second.all_reduce(np.ones(2)))[0]


def test_learners_that_make_different_calls_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(membership, "BEAT", 0.1)
    first, second = group(2, timeout=0.5, kind=Endless)
    said = together(lambda: first.all_reduce(np.ones(2)), lambda: second.all_gather(b""))
    expected = (
        "in call 1 learner 1 gathers messages, and learner 0 of 2 adds up: all must make the same calls"
    )
    assert all(expected in text for text in said)


def test_learners_that_never_come_are_named_within_the_limit():
    address, began = free_address(), time.monotonic()
    said = together(*(lambda rank=rank: Connected(rank, 4, address, 0.5) for rank in (0, 2)))
    assert said == [f"learners 1, 3 of 4 did not come to {address} within 0.5 s"] * 2
    assert time.monotonic() - began < 5.0
    with pytest.raises(CollectiveError, match=f"learner 0 did not come to {address} within 0.2 s"):
        Connected(1, 2, address, 0.2)


def test_a_port_in_use_is_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(CollectiveError, match=f"cannot listen on {address} .*a free port"):
            Connected(0, 2, address, 0.2)


def test_learners_of_other_groups_are_refused():
    address = free_address()
    said = together(lambda: Connected(0, 2, address, 5.0), lambda: Connected(1, 3, address, 5.0))
    assert said == ["learner 1 was started for a group of 3, learner 0 for one of 2"] * 2
    address = free_address()
    said = together(*(lambda rank=rank: Connected(rank, 3, address, 5.0) for rank in (0, 1, 1)))
    assert said == ["two processes came as learner 1: each needs a rank of its own"] * 3


def test_a_stranger_on_the_port_changes_nothing():
    address = free_address()
    host, port = address.split(":")

    def after_a_stranger() -> Any:
        until = time.monotonic() + 5.0
        while time.monotonic() < until:
            try:
                with socket.create_connection((host, int(port)), 1.0) as line:
                    line.sendall(b"GET / HTTP/1.1\r\n\r\n")
                break
            except OSError:
                time.sleep(0.01)
        return Connected(1, 2, address, 5.0)

    made = together(lambda: Connected(0, 2, address, 5.0), after_a_stranger)
    assert [each.rank for each in made] == [0, 1]


def test_a_learner_that_cannot_start_is_named_to_the_others():
    first, second = group(2, kind=Failing)
    assert "learner 1: the group could not start: ValueError: no such device" in second
    text = together(lambda: first.all_reduce(np.ones(1)))[0]
    assert "learner 1 of 2 is lost: ValueError: no such device" in text


def test_a_start_that_fails_or_never_ends_is_ended_at_the_limit_and_leaves_nothing() -> None:
    stopped.clear()
    group(2, kind=Failing)[0].close()
    assert sorted(stopped) == [0, 1]
    stopped.clear()
    said = group(2, timeout=0.5, kind=Waiting)
    assert all("they did not connect within 0.5 s" in text for text in said)
    assert sorted(stopped) == [0, 1]


def test_a_learner_that_sends_something_else_is_lost() -> None:
    first, second = group(2)
    second.membership._send_all(membership._BEAT, b"[[1, 2]]")
    text = together(lambda: first.all_reduce(np.ones(1)))[0]
    assert "learner 1 of 2 is lost: what it sent is no message of a learner" in text
    second.close()


def test_a_learner_that_is_lost_while_others_start_is_named() -> None:
    began = time.monotonic()
    assert (
        "the group could not start: learner 1 of 2 is lost: its process has ended" in group(2, kind=Stuck)[0]
    )
    assert time.monotonic() - began < 4.0


def test_launchers_say_where_a_learner_stands():
    assert place_from_environment({}) is None
    torchrun = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "10.0.0.1", "MASTER_PORT": "29500"}
    assert place_from_environment(torchrun) == Place(1, 2, "10.0.0.1:29501", local_rank=1)
    assert place_from_environment({**torchrun, "LOCAL_RANK": "0"}) == Place(1, 2, "10.0.0.1:29501")
    named = {**torchrun, "RLGRAPH_GROUP_ADDRESS": "10.0.0.2:7"}
    assert place_from_environment(named) == Place(1, 2, "10.0.0.2:7", local_rank=1)
    horovodrun = {
        "HOROVOD_RANK": "0",
        "HOROVOD_SIZE": "3",
        "HOROVOD_GLOO_RENDEZVOUS_ADDR": "127.0.0.1",
        "HOROVOD_GLOO_RENDEZVOUS_PORT": "8000",
    }
    assert place_from_environment(horovodrun) == Place(0, 3, "127.0.0.1:8001")
    with pytest.raises(CollectiveError, match="'MASTER_PORT' is missing"):
        place_from_environment({"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "x"})
    with pytest.raises(CollectiveError, match="expected RANK from 0 to 1, given 2"):
        place_from_environment({**torchrun, "RANK": "2"})


def test_specs_of_collectives_are_checked():
    registry("rlgraph.collectives").register("connected", Connected)
    place = Place(0, 1, free_address())
    assert make_collective({"type": "connected", "timeout": 2.0}, place).timeout == 2.0
    for spec, text in (
        ("conected", "Did you mean 'connected'"),
        ({"type": "connected", "timeout": 0}, "timeout: expected seconds > 0, given 0"),
        ({"type": "connected", "device": "cpu"}, "what starts the learners says device"),
        ({"type": "connected", "rank": 1}, "what starts the learners says rank"),
        ({"type": "connected", "limit": 1}, "execution_spec.collective"),
        (3, "expected the name of a collective"),
    ):
        with pytest.raises(SpecError, match=text):
            make_collective(spec, place)
