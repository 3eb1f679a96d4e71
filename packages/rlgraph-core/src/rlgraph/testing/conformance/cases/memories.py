"""Cases of memories."""

from __future__ import annotations

from rlgraph.components import PrioritizedReplay, ReplayMemory, RingBuffer
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox
from rlgraph.testing.conformance.cases.case import BATCH, PARTS, Case

FRAMES = IntBox(256, shape=(2, 8, 8), dtype="uint8")

CASES: dict[str, Case] = {
    "prioritized_replay": Case(
        lambda: PrioritizedReplay(7, beta=[0.4, 1.0]),
        {
            "records": Dict(state=FloatBox(shape=(2,)), action=PARTS, add_batch_rank=True),
            "num_records": IntBox(BATCH, BATCH + 1),
            "time_percentage": FloatBox(0.0, 1.0),
            "indices": IntBox(BATCH, add_batch_rank=True),
            "errors": FloatBox(add_batch_rank=True),
        },
        ("insert_records", "get_records", "update_records", "insert_records", "get_records", "get_size"),
    ),
    "ring_buffer": Case(
        lambda: RingBuffer(12),
        {
            "records": Dict(
                state=FloatBox(shape=(2,)),
                action=PARTS,
                terminals=BoolBox(),
                truncations=BoolBox(),
                add_batch_rank=True,
            ),
            "num_records": IntBox(BATCH, BATCH + 1),
            "num_episodes": IntBox(1, 2),
        },
        (
            "insert_records",
            "get_records",
            "insert_records",
            "get_records",
            "get_episodes",
            "clear",
            "get_size",
        ),
    ),
    "replay_memory": Case(
        lambda: ReplayMemory(7),
        {
            "records": Dict(state=FloatBox(shape=(2,)), action=PARTS, add_batch_rank=True),
            "num_records": IntBox(BATCH, BATCH + 1),
        },
        ("insert_records", "get_records", "insert_records", "get_records", "get_size"),
    ),
    "replay_memory_frames": Case(
        lambda: ReplayMemory(7, frame_stack={"size": 2, "axis": 0, "frames_per_record": 4}),
        {
            "records": Dict(
                states=Dict(camera=FRAMES, speed=FloatBox()),
                next_states=Dict(camera=FRAMES, speed=FloatBox()),
                action=PARTS,
                add_batch_rank=True,
            ),
            "num_records": IntBox(BATCH, BATCH + 1),
        },
        ("insert_records", "get_records", "insert_records", "get_records", "get_size"),
    ),
}
