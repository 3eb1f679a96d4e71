"""Cases of memories."""

from __future__ import annotations

from typing import Any

from rlgraph.components import (
    DemonstrationReplay,
    FIFOQueue,
    PrioritizedReplay,
    ReplayedSequences,
    ReplayMemory,
    RingBuffer,
    SequenceReplay,
    StagingArea,
)
from rlgraph.core import Component, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Space
from rlgraph.testing.conformance.cases.case import BATCH, PARTS, Case

FRAMES = IntBox(256, shape=(2, 8, 8), dtype="uint8")
NUMBER: dict[str, Space] = {"num_records": IntBox(BATCH, BATCH + 1)}
#: What memories with priorities take beside records.
PRIORITIES: dict[str, Space] = {
    **NUMBER,
    "progress": FloatBox(0.0, 1.0),
    "indices": IntBox(BATCH, add_batch_rank=True),
    "errors": FloatBox(add_batch_rank=True),
}
TWICE = ("insert_records", "get_records") * 2
PRIORITIZED = ("insert_records", "get_records", "update_records", "insert_records", "get_records")


def _records(**parts: Any) -> dict[str, Space]:
    return {"records": Dict(parts, add_batch_rank=True)}


RECORDS = _records(state=FloatBox(shape=(2,)), action=PARTS)


class Replayed(Component):
    """Sequences as items, and priorities of sequences from numbers of their items."""

    def __init__(self) -> None:
        self.sequences = ReplayedSequences(burn_in=1, n_step=2)
        super().__init__(self.sequences, scope="replayed")

    @rlgraph_api
    def call(self, records: Any, importance_weights: Any) -> Any:
        items = self.sequences.get_items(records, importance_weights)
        return {**items, "priorities": self.sequences.get_priorities(items["rewards"], records["weights"])}


CASES: dict[str, Case] = {
    # Nothing waits: there is room, and there are records.
    "fifo_queue": Case(
        lambda: FIFOQueue(4 * BATCH, timeout=0),
        {
            "records": Dict(
                state=FloatBox(shape=(2,)),
                action=PARTS,
                terminals=BoolBox(),
                add_batch_rank=True,
                add_time_rank=3,
            ),
            **NUMBER,
        },
        ("insert_records", *TWICE[:2], "get_size", "close", "get_records", "reopen", "insert_records"),
    ),
    "demonstration_replay": Case(
        lambda: DemonstrationReplay(6 * BATCH, beta=[0.4, 1.0]),
        {**_records(demonstrations=BoolBox(), action=PARTS), **PRIORITIES},
        (*PRIORITIZED, "get_size"),
    ),
    "prioritized_replay": Case(
        lambda: PrioritizedReplay(7, beta=[0.4, 1.0]), {**RECORDS, **PRIORITIES}, (*PRIORITIZED, "get_size")
    ),
    "prioritized_replay_max_weight": Case(
        lambda: PrioritizedReplay(7, max_weight_of="memory"),
        {**_records(state=FloatBox(shape=(2,))), **PRIORITIES},
        PRIORITIZED,
    ),
    "sequence_replay": Case(
        lambda: SequenceReplay(40, sequence_length=6, burn_in=1, overlap=2),
        {**_records(states=FloatBox(shape=(7, 2)), actions=PARTS), **PRIORITIES},
        (*PRIORITIZED, "get_size"),
    ),
    "replayed_sequences": Case(
        Replayed,
        {
            **_records(
                states=Dict(a=FloatBox(shape=(5, 2)), b=IntBox(3, shape=(5,))),
                begins=BoolBox(shape=(4,)),
                actions=IntBox(3, shape=(3,)),
                rewards=FloatBox(shape=(3,)),
                terminals=BoolBox(shape=(3,)),
                weights=FloatBox(shape=(3,)),
                beginnings=Dict(policy=FloatBox(shape=(2,))),
            ),
            "importance_weights": FloatBox(add_batch_rank=True),
        },
        ("call",),
    ),
    "ring_buffer": Case(
        lambda: RingBuffer(12),
        {
            **_records(state=FloatBox(shape=(2,)), action=PARTS, terminals=BoolBox(), truncations=BoolBox()),
            **NUMBER,
            "num_episodes": IntBox(1, 2),
        },
        (*TWICE, "get_episodes", "clear", "get_size"),
    ),
    "replay_memory": Case(lambda: ReplayMemory(7), {**RECORDS, **NUMBER}, (*TWICE, "get_size")),
    "replay_memory_frames": Case(
        lambda: ReplayMemory(7, frame_stack={"size": 2, "axis": 0, "frames_per_record": 4}),
        {
            **_records(
                states=Dict(camera=FRAMES, speed=FloatBox()),
                next_states=Dict(camera=FRAMES, speed=FloatBox()),
                action=PARTS,
            ),
            **NUMBER,
        },
        (*TWICE, "get_size"),
    ),
    "staging_area": Case(
        lambda: StagingArea(timeout=0),
        {"values": Dict(state=FloatBox(shape=(2,)), action=PARTS, add_batch_rank=BATCH)},
        ("stage", "unstage", "stage", "close", "unstage", "reopen"),
    ),
}
