"""The memory inside of programs against a naive ring."""

import numpy as np
import pytest

from rlgraph.components.memories.tensor_replay import TensorReplay
from rlgraph.core import Component, SpecError, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest

CAPACITY, DRAWN = 10, 400
RECORDS = Dict({"states": Dict(a=FloatBox(shape=(2,)), b=IntBox(5)), "ends": BoolBox(), "number": IntBox()})


class Root(Component):
    """Inserts and draws as a program does."""

    def __init__(self):
        self.memory = TensorReplay(CAPACITY)
        super().__init__(self.memory, scope="root")

    @rlgraph_api
    def insert(self, records):
        return self.memory.insert_records(records)

    @rlgraph_api
    def draw(self):
        return self.memory.get_records(DRAWN)


def numbered(numbers):
    numbers = np.asarray(numbers)
    a = np.stack([numbers, -numbers], axis=-1).astype(np.float32)
    return {"states": {"a": a, "b": numbers % 5}, "ends": numbers % 2 == 0, "number": numbers}


def test_it_keeps_and_draws_the_newest_records():
    test = ComponentTest(Root(), {"records": RECORDS.with_batch_rank()}, backend="numpy")
    kept, first = [], 0
    for count in (3, 4, 2, 5, 1, 7):
        added = list(range(first, first + count))
        test.test(("insert", [numbered(added)]))
        kept, first = [*kept, *added][-CAPACITY:], first + count
        drawn = test.test(("draw", []))
        np.testing.assert_equal(drawn, numbered(drawn["number"]))
        counts = np.bincount(drawn["number"], minlength=first)
        assert set(np.flatnonzero(counts)) == set(kept)
        assert counts.max() < 5 * DRAWN / len(kept)


def test_its_rows_have_buffers_of_their_own():
    test = ComponentTest(Root(), {"records": RECORDS.with_batch_rank()}, backend="numpy")
    groups = test.executor.built.layout.groups.values()
    rows = [group for group in groups if any("/rows/" in variable.name for variable in group.variables)]
    assert len(rows) == 4
    assert all(len(group.variables) == 1 for group in rows)


def test_bad_input_is_refused():
    with pytest.raises(SpecError, match="capacity"):
        TensorReplay(0)
    with pytest.raises(SpaceError, match="Dict with batch rank"):
        ComponentTest(Root(), {"records": FloatBox(add_batch_rank=True)}, backend="numpy")
