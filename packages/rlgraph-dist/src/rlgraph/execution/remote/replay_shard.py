"""A part of a replay memory in another place: fragments go in, batches come out, priorities go back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rlgraph.components import PrioritizedReplay
from rlgraph.core import CheckpointError, InputError, RandomStreams, executor_class
from rlgraph.core.checkpoint.finding import find_checkpoint
from rlgraph.core.checkpoint.manifest import read_manifest
from rlgraph.core.errors import text_of
from rlgraph.execution.engine import Bytes
from rlgraph.execution.remote.sampling import fragment_format
from rlgraph.execution.remote.values import ValuedWriter, initial_errors
from rlgraph.execution.remote.work_times import WorkTimes, timed
from rlgraph.experience.experience import write_fragment
from rlgraph.experience.messages import checked_array, pack_message, unpack_message
from rlgraph.experience.replay import Replay
from rlgraph.learning.actor_spec import ActorSpec
from rlgraph.spaces import Dict, FloatBox, IntBox, from_spec

#: The random streams of shards are numbered from here, after those of actors.
_FIRST_STREAM = 1 << 16


@dataclass(frozen=True)
class Batch:
    """What a shard draws.

    Attributes:
        records: fields ``[B, ...]``, with ``"importance_weights" [B]`` among them.
        indices: where they are in the shard, [B].
        inserted: records that the shard had taken in before.
    """

    records: dict[str, Any]
    indices: np.ndarray
    inserted: int


class BatchFormat:
    """How batches become bytes, and what they are checked against when they arrive.

    Args:
        replay: what they are drawn from.
        actor: whose fragments it keeps.
    """

    def __init__(self, replay: Replay, actor: ActorSpec):
        graph, actions = actor.make_graph(), from_spec(actor.action_space)
        spaces = replay.input_spaces(graph.policy_input.space(actor.raw_space), actions, None)
        #: The Space of records.
        self.records: Dict = spaces["records"]
        fields = {
            **self.records.without_ranks(),
            "importance_weights": FloatBox(0.0, 1.0),
            "indices": IntBox(0, None),
        }
        self._space = Dict(fields)

    def to_bytes(self, batch: Batch) -> bytes:
        """The batch as a message."""
        arrays = self._space.flatten_sample({**batch.records, "indices": batch.indices})
        return pack_message({"inserted": batch.inserted}, arrays)

    def from_bytes(self, message: Bytes) -> Batch:
        """The batch of a message.

        Raises:
            InputError: the message is not a batch; says what is wrong.
        """
        header, arrays = unpack_message(message)
        inserted = header.get("inserted")
        if not isinstance(inserted, int):
            raise InputError(f"expected the message of a shard, given {header!r}")
        size = len(arrays.get("indices", ()))
        flat = {
            path: checked_array("batch", arrays, path, (size, *box.shape), box)
            for path, box in self._space.flatten().items()
        }
        fields = self._space.unflatten_sample(flat)
        return Batch(fields, fields.pop("indices"), inserted)


@dataclass(frozen=True)
class ShardSpec:
    """Describes a shard; picklable. Called without arguments it makes one.

    Attributes:
        actor: whose fragments it keeps.
        replay: options of its `Replay`.
        batch_size: records of a batch.
        number: of the shard.
        incarnation: how often it was started again.
        begun: steps that the agent had observed before.
        keeps_values: whether fragments have the values that acting knew, of which priorities are computed.
        snapshot: folder of its snapshot, as every node finds it; empty: it writes none.
        run: digest of the configuration of the run that the snapshot belongs to.
    """

    actor: ActorSpec
    replay: Mapping[str, Any]
    batch_size: int
    number: int = 0
    incarnation: int = 0
    begun: int = 0
    keeps_values: bool = False
    snapshot: str = ""
    run: str = ""

    def __call__(self) -> ReplayShard:
        return ReplayShard(self)


class ReplayShard:
    """Keeps the transitions of some actors, on NumPy: no framework is imported.

    It begins with its newest snapshot if there is one that fits, else empty.
    """

    def __init__(self, spec: ShardSpec):
        self._replay, self._dtype = Replay(**spec.replay), spec.actor.dtype
        self._batches = BatchFormat(self._replay, spec.actor)
        self._keeps_values = spec.keeps_values
        self._fragments = fragment_format(spec.actor, keeps_values=spec.keeps_values)
        self._batch_size = np.array(spec.batch_size)
        memory = self._replay.memory
        assert isinstance(memory, PrioritizedReplay)
        self._capacity = memory.capacity
        #: Of the memory.
        self.executor = executor = executor_class("numpy")(
            memory,
            {
                "records": self._batches.records,
                "num_records": IntBox(1, None),
                "progress": FloatBox(0.0, 1.0),
                "indices": IntBox(0, None, add_batch_rank=True),
                "errors": FloatBox(add_batch_rank=True),
            },
            backend="numpy",
            execution_spec={"seed": spec.actor.seed, "dtype": self._dtype},
        )
        streams = RandomStreams([spec.actor.seed, _FIRST_STREAM + spec.number, spec.incarnation, spec.begun])
        self._insert_records = executor.program("insert_records")
        self._get_records = executor.program("get_records", streams)
        self._update_records = executor.program("update_records")
        #: Actor -> its incarnation, and what turns its steps into transitions.
        self._writers: dict[int, tuple[int, Any]] = {}
        #: Where it writes snapshots, None: nowhere; and the run that they belong to.
        self._snapshot, self._run = Path(spec.snapshot) if spec.snapshot else None, spec.run
        #: Why the snapshot was not taken in; empty: it was, or there is none.
        self._fault = ""
        #: Records taken in so far.
        self.inserted = self._restored()
        self.times = WorkTimes()

    def begin(self) -> tuple[bytes, bytes]:
        """Facts are ``{"inserted", "fault"}``: records that it begins with, and why not with those of its snapshot."""
        return json.dumps({"inserted": self.inserted, "fault": self._fault}).encode(), b""

    @timed
    def insert(self, message: Bytes) -> tuple[bytes, bytes]:
        """Take in a fragment; facts are ``{"refused"}``: why its message is not one, None if it is."""
        try:
            fragment = self._fragments.from_bytes(message)
        except InputError as error:
            return json.dumps({"refused": str(error)}).encode(), b""
        origin = fragment.origin
        incarnation, writer = self._writers.get(origin.actor, (-1, None))
        if writer is None or incarnation != origin.incarnation:  # what waits of an older one is lost
            writer = self._replay.make_writer(self._insert, self._dtype)
            writer = ValuedWriter(writer) if self._keeps_values else writer
            self._writers[origin.actor] = origin.incarnation, writer
        write_fragment(writer, fragment)
        return json.dumps({"refused": None}).encode(), b""

    def _insert(self, records: dict[str, Any]) -> None:
        number, errors = len(records["rewards"]), np.empty(0)
        if self._keeps_values:
            records, errors = initial_errors(records, self._replay.discount)
        self._insert_records(records)
        if len(known := np.flatnonzero(np.isfinite(errors))):  # others keep the largest priority so far
            self._update_records((self.inserted + known) % self._capacity, errors[known])
        self.inserted += number

    def snapshot(self) -> tuple[bytes, bytes]:
        """Write all records, in place of the snapshot before; steps that wait to become records are not in it."""
        assert self._snapshot is not None
        self._snapshot.parent.mkdir(exist_ok=True)
        self.executor.save(self._snapshot, facts={"inserted": self.inserted, "run": self._run})
        return b"", b""

    def _restored(self) -> int:
        """Take in the snapshot; how many records had been taken in then."""
        if self._snapshot is None or not (found := find_checkpoint(self._snapshot)).exists():
            return 0
        try:
            # An older version did not say of which run it is.
            if read_manifest(found).facts.get("run", self._run) != self._run:
                raise CheckpointError(f"{found} is the snapshot of another run")
            facts = self.executor.load(self._snapshot, required_facts={"inserted": 0})
        except CheckpointError as error:
            self._fault = text_of(error)
            return 0
        return int(facts["inserted"])

    @timed
    def draw(self, message: Bytes) -> tuple[bytes, bytes]:
        """A batch as a message of `BatchFormat`; facts are ``{"inserted", "times"}``; if nothing was, there is none.

        Args:
            message: its header has the ``progress`` of training.
        """
        header, _ = unpack_message(message)
        facts = json.dumps({"inserted": self.inserted, "times": self.times.take()}).encode()
        if not self.inserted:
            return facts, b""
        progress = np.asarray(header["progress"], self._dtype)
        records, indices, weights = self._get_records(self._batch_size, progress)
        fields = {**records, "importance_weights": np.asarray(weights, self._dtype)}
        return facts, self._batches.to_bytes(Batch(fields, indices, self.inserted))

    @timed
    def update(self, message: Bytes) -> tuple[bytes, bytes]:
        """Set priorities; `message` has the ``indices`` and ``priorities`` [B], and ``inserted`` of their batch.

        Records that were overwritten since keep their priorities.
        """
        header, arrays = unpack_message(message)
        indices, since = arrays["indices"], self.inserted - int(header["inserted"])
        # Places that were written since the batch was drawn, counted from the first of them.
        kept = (indices - int(header["inserted"])) % self._capacity >= since
        self._update_records(indices[kept], arrays["priorities"][kept])
        return b"", b""
