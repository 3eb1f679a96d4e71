"""What a checkpoint says of a memory is checked before anything is loaded: it may have been changed."""

from functools import cache

import numpy as np
import pytest

from rlgraph.components import DemonstrationReplay, FIFOQueue, PrioritizedReplay, ReplayMemory, RingBuffer
from rlgraph.core import CheckpointError, GraphExecutor
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox

STACK = IntBox(0, 256, shape=(8, 8, 4), dtype="uint8")
RECORDS = Dict(
    states=STACK,
    next_states=STACK,
    actions=Dict(one=IntBox(3), two=IntBox([1, 2], [3, 9], shape=(2,)), free=IntBox()),
    rewards=FloatBox(),
    terminals=BoolBox(),
    demonstrations=BoolBox(),
    add_batch_rank=True,
)
SPACES = {"records": RECORDS, "num_records": IntBox()}
DRAWN = {"indices": IntBox(add_batch_rank=True), "errors": FloatBox(add_batch_rank=True)}
FURTHER = {"prioritized": DRAWN, "demonstrations": DRAWN, "ring": {"num_episodes": IntBox()}}
STACKED = {"frame_stack": {"size": 4, "axis": -1, "frames_per_record": 10}}
KINDS = {
    "replay": lambda: ReplayMemory(10),
    "stacks": lambda: ReplayMemory(10, **STACKED),
    "prioritized": lambda: PrioritizedReplay(10, max_weight_of="memory"),
    "demonstrations": lambda: DemonstrationReplay(10),
    "ring": lambda: RingBuffer(10),
    "queue": lambda: FIFOQueue(10, scope="memory"),
}
FORGED = [
    *((kind, "cursor", [10, 3]) for kind in KINDS),
    *((kind, "cursor", [0, 11]) for kind in KINDS),
    *((kind, "cursor", [-1, 3]) for kind in KINDS),
    ("replay", "cursor", [0, -1]),
    ("replay", "rows/actions/one", 3),
    ("replay", "rows/actions/two", [2, 9]),
    ("replay", "rows/rewards", np.nan),
    ("ring", "rows/rewards", -np.inf),
    ("prioritized", "rows/actions/one", -1),
    ("prioritized", "priorities", np.nan),
    ("prioritized", "priorities", -1.0),
    ("prioritized", "largest_priority", np.inf),
    ("demonstrations", "kept", 5),
    ("demonstrations", "kept", -1),
    ("stacks", "stacks/frames/pointers", 10_000),
    ("stacks", "stacks/frames/free", -1),
    ("stacks", "stacks/frames/state", 10_000),
    ("stacks", "inserted", 2),
]


@cache
def executor(kind):
    made = GraphExecutor(KINDS[kind](), SPACES | FURTHER.get(kind, {}), backend="numpy")
    rng = np.random.default_rng(0)
    records = {path: box.without_ranks().sample(4, rng=rng) for path, box in RECORDS.flatten().items()}
    made.execute("insert_records", RECORDS.unflatten_sample(records))
    return made


@pytest.mark.parametrize(("kind", "name", "value"), FORGED)
def test_forged_values_are_refused_before_anything_is_loaded(tmp_path, kind, name, value):
    made = executor(kind)
    made.save(tmp_path / "right")
    made.storage.host[f"memory/{name}"][-1 if name.startswith("rows") else ...] = value
    made.save(tmp_path / "forged")
    made.load(tmp_path / "right")
    before = {name: value.copy() for name, value in made.storage.host.items()}
    with pytest.raises(CheckpointError, match=rf"memory/{name}: expected numbers from .*, given"):
        made.load(tmp_path / "forged")
    for name, value in made.storage.host.items():
        np.testing.assert_array_equal(value, before[name])


def test_steps_that_are_missing_are_zeros_outside_of_their_space(tmp_path):
    made = executor("replay")
    made.storage.host["memory/rows/actions/two"][:] = 0
    made.save(tmp_path / "saved")
    made.load(tmp_path / "saved")
