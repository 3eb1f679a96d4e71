"""The replay shards of an executor, as the learner sees them."""

from __future__ import annotations

import json
import warnings
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from rlgraph.core.errors import CheckpointWarning
from rlgraph.execution.engine import Engine
from rlgraph.execution.remote.actors import Actors
from rlgraph.execution.remote.host import Hosted
from rlgraph.execution.remote.replay_shard import Batch, BatchFormat
from rlgraph.execution.remote.requests import Calls
from rlgraph.execution.remote.sampling import Sample
from rlgraph.execution.remote.work_times import WorkTimes
from rlgraph.experience.fragment import Origin
from rlgraph.experience.messages import pack_message

#: Calls that are under way at most, before the learner waits for answers.
MOST_CALLS = 64
#: Seconds that a shard may take to write a snapshot: some GB.
SNAPSHOT_TIMEOUT = 600.0


@dataclass(frozen=True)
class Drawn:
    """A batch and where it was drawn.

    Attributes:
        shard: number of the shard.
        incarnation: how often that had been started again.
        batch: the records.
    """

    shard: int
    incarnation: int
    batch: Batch


class Shards:
    """Sends samples to shards, asks them for batches ahead, and gives priorities back.

    An actor's samples all go to one shard. Batches are drawn from the shards in turn. A shard that fails is started
    again, with its snapshot or empty; what was sent to it since is lost.

    Args:
        engine: where they live.
        make: ``(number, incarnation)`` -> what makes a shard there.
        count: number of shards.
        max_restarts: how often each may be started again.
        batches: how batches are read.
        batches_ahead: number of batches that are asked for ahead.
        start_timeout, timeout: seconds until the first answer of a shard, and until any other.
        refuse: ``(origin, cause)``: is told of samples whose message is no fragment.
        folder: see `Actors`.
    """

    def __init__(
        self,
        engine: Engine,
        make: Callable[[int, int], Callable[[], Hosted]],
        count: int,
        max_restarts: int,
        batches: BatchFormat,
        batches_ahead: int,
        start_timeout: float,
        timeout: float,
        refuse: Callable[[Origin, str], None],
        folder: Path | None = None,
    ):
        self._actors = Actors(engine, make, count, max_restarts, "replay shard", True, folder)
        self._calls = Calls(engine, self._actors, self._read, start_timeout, timeout)
        self._engine, self._format, self._ahead, self._refuse = engine, batches, batches_ahead, refuse
        #: Batches that are here.
        self._here: deque[Drawn] = deque()
        #: Batches that were asked for and are not here, and the shard that is asked next.
        self._asked, self._next = 0, 0
        #: Shard -> records that it had taken in when it drew its last batch.
        self.inserted: dict[int, int] = {}
        #: Snapshots that are being written.
        self._snapshots = 0
        #: How shards spent their time; see `WorkTimes.take`.
        self.times = WorkTimes()

    def __len__(self) -> int:
        return len(self._actors)

    @property
    def restarts(self) -> int:
        """How often shards were started again."""
        return self._actors.restarts

    def insert(self, sample: Sample) -> None:
        """Send a sample to the shard of its actor, from where it is."""
        self._calls.call(sample.origin.actor % len(self), "insert", sample.body, about=sample.origin)
        self._receive(waits=len(self._calls) > MOST_CALLS)

    def take(self, progress: float) -> Drawn | None:
        """The next batch; None if all shards are empty.

        Args:
            progress: how much of training is done, 0 to 1.

        Raises:
            TooManyRestarts: shards failed more often than is allowed.
        """
        misses = 0
        while not self._here:
            if misses >= len(self) + self._ahead:
                return None
            self._ask(progress)
            misses += self._receive(waits=True)
        drawn = self._here.popleft()
        self._ask(progress)
        return drawn

    def update(self, drawn: Drawn, priorities: np.ndarray) -> None:
        """Give the priorities ``[B]`` of a batch back to its shard, if that lives on."""
        if drawn.incarnation == self._actors.incarnations[drawn.shard]:
            arrays = {"indices": drawn.batch.indices, "priorities": priorities}
            self._calls.call(drawn.shard, "update", pack_message({"inserted": drawn.batch.inserted}, arrays))

    def begin(self) -> bool:
        """Whether all shards began with a snapshot.

        Warns:
            CheckpointWarning: a snapshot is damaged, or of another memory.
        """
        for number in range(len(self)):
            self._calls.call(number, "begin")
        begun: list[bool] = []
        while len(begun) < len(self):
            begun += [bool(answer.value) for answer in self._calls.answers()]
        return all(begun)

    def snapshot(self, patience: float) -> None:
        """Tell all shards to write a snapshot; they do when they come to it. Waits at most `patience` seconds.

        Raises:
            TooManyRestarts: shards failed more often than is allowed.
        """
        for number in range(len(self)):
            self._calls.call(number, "snapshot", timeout=SNAPSHOT_TIMEOUT)
            self._snapshots += 1
        until = self._engine.now() + patience
        while self._snapshots and self._engine.now() < until:
            self._receive(waits=True, until=until)

    def close(self) -> None:
        """End all shards."""
        self._actors.close()

    def _ask(self, progress: float) -> None:
        """Ask for batches, in turn."""
        message = pack_message({"progress": progress}, {})
        while self._asked + len(self._here) < self._ahead:
            self._calls.call(self._next, "draw", message)
            self._asked, self._next = self._asked + 1, (self._next + 1) % len(self)

    def _receive(self, waits: bool, until: float = inf) -> int:
        """Take in answers; how many batches did not come, since a shard was empty or failed."""
        misses = 0
        for answer in self._calls.answers(waits, until):
            self._snapshots -= answer.method == "snapshot"
            if answer.method == "draw":
                self._asked -= 1
                if isinstance(answer.value, Batch):
                    self.inserted[answer.number] = answer.value.inserted
                    self._here.append(Drawn(answer.number, answer.incarnation, answer.value))
                else:
                    misses += 1
            elif answer.method == "insert" and answer.value:
                self._refuse(answer.about, answer.value)
        return misses

    def _read(self, method: str, facts: bytes, body: Any) -> Any:
        """What a shard answered: a batch, and why it refused a sample."""
        if method in ("update", "snapshot"):
            return None
        given = json.loads(facts)
        if method == "begin":
            if given["fault"]:
                warnings.warn(f"{given['fault']}; this shard begins empty", CheckpointWarning, stacklevel=1)
            return given["inserted"]
        if method == "insert":
            return given["refused"]
        waited, worked = given["times"]
        self.times.waited += waited
        self.times.worked += worked
        return self._format.from_bytes(self._engine.fetch(body)) if given["inserted"] else None
