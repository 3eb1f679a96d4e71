"""What every collective must do: a group of real processes is started, and one of them killed.

A third party tests a collective with three lines,

```python
from rlgraph.testing.collectives import CollectiveConformance

class TestMine(CollectiveConformance):
    collective = "mine"
```

or with ``python -m rlgraph.testing --collective mine``. Each learner is a process that runs this module.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rlgraph.core.addresses import connect, free_address
from rlgraph.core.collectives import Collective
from rlgraph.core.collectives.place import Place, collective_class, make_collective
from rlgraph.core.errors import CollectiveError
from rlgraph.testing.conformance import Outcome

#: Numbers of the arrays that are added up; the last is the size of a large network.
SIZES = (1, 2, 5_000, 1_700_000)
#: Seconds that learners wait for each other, until a lost one must be named, and that a process may take to import.
LIMIT, NAMED_WITHIN, START = 20.0, 10.0, 120.0
#: The limits of the group that waits for one who never comes, and of that which waits for one in a call.
_MISSING_LIMIT, _LATE_LIMIT = 3.0, 6.0
_ANSWER = "ANSWER "


def _values(rank: int, size: int, dtype: str) -> np.ndarray:
    # Sums of such are exact up to 2**20 learners, in any order.
    return np.random.default_rng([rank, size]).integers(-1000, 1000, size).astype(dtype)


# In the process of a learner.


def _member(spec: Any, rank: int, size: int, address: str, scenario: str) -> dict[str, Any]:
    """What one learner saw."""
    collective_class(spec)  # imports a framework, perhaps
    began = time.monotonic()
    try:
        collective = make_collective(spec, Place(rank, size, address))
    except CollectiveError as error:
        return {"refused": str(error), "seconds": time.monotonic() - began}
    is_last = rank == size - 1
    if scenario == "late":
        collective.all_reduce(np.ones(1))
        return _call(collective, is_last)
    found = _work_together(collective)
    if is_last:
        print(_ANSWER + json.dumps(found), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    found |= _lose(collective)
    collective.close()
    collective.close()
    return found


def _work_together(collective: Collective) -> dict[str, Any]:
    sums, wrong = hashlib.sha256(), []
    for dtype in ("float32", "float64"):
        for number in SIZES:
            for _ in range(2):
                given = _values(collective.rank, number, dtype)
                found = collective.all_reduce(given)
                expected = np.add.reduce([_values(r, number, dtype) for r in range(collective.size)])
                if found.dtype != expected.dtype or not np.array_equal(found, expected):
                    wrong.append(f"{number} numbers of {dtype}")
            thirds = collective.all_reduce(given / np.array(3.0, dtype))
            sums.update(thirds.tobytes())
    messages = [
        collective.all_gather(b"m" * length) for length in (0, 100_000 * collective.rank, collective.rank)
    ]
    lengths = [[len(each) for each in gathered] for gathered in messages]
    return {"wrong": wrong, "digest": sums.hexdigest(), "lengths": lengths}


def _call(collective: Collective, is_late: bool) -> dict[str, Any]:
    """A call to which a learner comes late."""
    if is_late:
        time.sleep(collective.timeout + 6.0)
    began, said = time.monotonic(), ""
    try:
        collective.all_reduce(np.ones(1000, "float32"))
    except CollectiveError as error:
        said = str(error)
    return {"said": said, "seconds": time.monotonic() - began}


def _lose(collective: Collective) -> dict[str, Any]:
    """Two calls of a group of which a learner is gone."""
    began, lost = time.monotonic(), []
    for _ in range(2):
        try:
            collective.all_reduce(np.ones(1000, "float32"))
            lost.append("")
        except CollectiveError as error:
            lost.append(str(error))
        if len(lost) == 1:
            seconds = time.monotonic() - began
    return {"lost": lost, "seconds": seconds}


# In the process that tests.


@dataclass(frozen=True)
class CollectiveCheck:
    """One thing that collectives must do."""

    name: str
    run: Callable[[CollectiveUnderTest], None]
    section: str = "collective"

    @property
    def id(self) -> str:
        return f"{self.section}/{self.name}"


class CollectiveUnderTest:
    """Runs groups of a collective, each once.

    Args:
        spec: its name, or a mapping with it as ``type``.
        size: number of learners.

    Raises:
        SpecError, PluginError: there is no such collective, or it cannot be loaded.
    """

    def __init__(self, spec: Any, size: int = 2):
        collective_class(spec)
        self.spec: Mapping[str, Any] = {"type": spec} if isinstance(spec, str) else spec
        self.size = size

    @cached_property
    def together(self) -> list[dict[str, Any]]:
        """What the learners of a group saw, whose last one is killed at the end."""
        return self._run("lose", range(self.size), LIMIT)

    @cached_property
    def without_one(self) -> dict[str, Any]:
        """What learner 0 of a group saw to which strangers came, and the last learner never did."""
        return self._run("meet", range(self.size - 1), _MISSING_LIMIT, has_strangers=True)[0]

    @cached_property
    def without_call(self) -> list[dict[str, Any]]:
        """What the learners of a group saw, of which the last makes a call when the others have given it up."""
        return self._run("late", range(self.size), _LATE_LIMIT)

    def _run(
        self, scenario: str, ranks: range, limit: float, has_strangers: bool = False
    ) -> list[dict[str, Any]]:
        address, spec = free_address(), json.dumps({**self.spec, "timeout": limit})
        arguments = (sys.executable, "-m", __name__, spec)
        processes = [
            subprocess.Popen(
                [*arguments, str(rank), str(self.size), address, scenario],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for rank in ranks
        ]
        is_over = threading.Event()
        if has_strangers:
            threading.Thread(target=_be_strangers, args=(address, is_over), daemon=True).start()
        try:
            printed = [process.communicate(timeout=START + limit)[0] for process in processes]
        finally:
            is_over.set()
            for process in processes:
                process.kill()
                process.wait()
        return [_answer(rank, text) for rank, text in zip(ranks, printed, strict=True)]


def _be_strangers(address: str, is_over: threading.Event) -> None:
    """Come to the port of a group every now and then; what is sent trickles, and is of no learner."""
    with ExitStack() as opened:
        lines: list[socket.socket] = []
        while not is_over.wait(0.2):
            with suppress(OSError):
                lines.append(opened.enter_context(connect(address, 1.0)))
            for line in lines:
                with suppress(OSError):
                    line.sendall(b"\xff")


def _answer(rank: int, printed: str) -> dict[str, Any]:
    answers = [line.removeprefix(_ANSWER) for line in printed.splitlines() if line.startswith(_ANSWER)]
    assert answers, f"learner {rank} failed:\n{printed[-4000:]}"
    found: dict[str, Any] = json.loads(answers[-1])
    return found


def _sums(subject: CollectiveUnderTest) -> None:
    """Sums of float32 and float64, of 1 to 1.7 million numbers, are right on all learners."""
    for rank, found in enumerate(subject.together):
        assert not found.get("refused"), found
        assert not found["wrong"], f"learner {rank}: wrong sums of {found['wrong']}"


def _equal_bits(subject: CollectiveUnderTest) -> None:
    """Sums that are rounded are the same on all learners, bit for bit."""
    digests = {found["digest"] for found in subject.together}
    assert len(digests) == 1, f"expected the same bits on all learners, given {digests}"


def _messages(subject: CollectiveUnderTest) -> None:
    """Messages of different lengths, empty ones among them, arrive in the order of ranks."""
    size = subject.size
    expected = [[0] * size, [100_000 * rank for rank in range(size)], list(range(size))]
    for rank, found in enumerate(subject.together):
        assert found["lengths"] == expected, f"learner {rank}: expected {expected}, given {found['lengths']}"


def _lost_learner(subject: CollectiveUnderTest) -> None:
    """A learner that is killed is named within seconds, and the group is dead for those that remain."""
    last = subject.size - 1
    for rank, found in enumerate(subject.together[:-1]):
        assert all(found["lost"]), f"learner {rank}: expected CollectiveError twice, given {found['lost']}"
        assert f"learner {last}" in found["lost"][0], (
            f"expected learner {last} named, given {found['lost'][0]!r}"
        )
        assert found["seconds"] <= NAMED_WITHIN, f"learner {rank}: named after {found['seconds']:.1f} s"


def _missing_learner(subject: CollectiveUnderTest) -> None:
    """A learner that never comes is named within the limit, whoever else connects to the port."""
    found, last = subject.without_one, subject.size - 1
    assert f"learner {last}" in found.get("refused", ""), f"expected learner {last} named, given {found}"
    assert found["seconds"] <= _MISSING_LIMIT + NAMED_WITHIN, f"named after {found['seconds']:.1f} s"


def _late_learner(subject: CollectiveUnderTest) -> None:
    """A learner that does not come to a call is named within the limit, and refused when it comes."""
    expected = f"learner {subject.size - 1} of {subject.size} did not come"
    for rank, found in enumerate(subject.without_call):
        assert expected in found["said"], f"learner {rank}: expected {expected!r}, given {found['said']!r}"
        assert found["seconds"] <= _LATE_LIMIT + NAMED_WITHIN, (
            f"learner {rank}: after {found['seconds']:.1f} s"
        )


CHECKS = (
    CollectiveCheck("sums", _sums),
    CollectiveCheck("equal_bits", _equal_bits),
    CollectiveCheck("messages", _messages),
    CollectiveCheck("lost_learner", _lost_learner),
    CollectiveCheck("missing_learner", _missing_learner),
    CollectiveCheck("late_learner", _late_learner),
)


def run_collective_conformance(
    spec: Any, size: int = 2, report: Callable[[Outcome], None] | None = None
) -> list[Outcome]:
    """Hold a collective to the checks.

    Args:
        spec, size: see `CollectiveUnderTest`.
        report: called with each outcome as it comes.
    """
    subject, outcomes = CollectiveUnderTest(spec, size), []
    for check in CHECKS:
        try:
            check.run(subject)
            outcome = Outcome(check, "passed", (check.run.__doc__ or "").strip())
        except Exception as error:
            outcome = Outcome(check, "failed", str(error), traceback.format_exc())
        outcomes.append(outcome)
        if report is not None:
            report(outcome)
    return outcomes


class CollectiveConformance:
    """The checks as a test class."""

    #: The registered name of the collective, or its spec.
    collective: Any
    #: Number of learners.
    size: int = 2

    def test_conformance(self) -> None:
        # One test, since its checks share the groups that are started.
        outcomes = run_collective_conformance(self.collective, self.size)
        failed = [f"{each.check.name}: {each.message}" for each in outcomes if each.status == "failed"]
        assert not failed, "\n".join(failed)


if __name__ == "__main__":
    given, number, count, place, what = sys.argv[1:]
    print(_ANSWER + json.dumps(_member(json.loads(given), int(number), int(count), place, what)), flush=True)
