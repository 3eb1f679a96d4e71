from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlgraph.components import ReplayMemory
from rlgraph.components.memories.memory import stacked, store
from rlgraph.core import BuildError, InputError, RLGraphError, SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, TextBox, Tuple
from rlgraph.testing import ComponentTest

FLAT = Dict(state=FloatBox(shape=(2,)), action=IntBox(3), terminal=BoolBox(), add_batch_rank=True)
NESTED = Dict(
    state=Dict(
        image=IntBox(0, 256, shape=(2, 2), dtype="uint8"),
        position=Tuple(FloatBox(), FloatBox(-1.0, 1.0, shape=(3,))),
    ),
    reward=FloatBox(),
    add_batch_rank=True,
)


def memory(capacity, backend="numpy", space=FLAT, seed=10):
    return ComponentTest(
        ReplayMemory(capacity), {"records": space, "num_records": IntBox()}, backend=backend, seed=seed
    )


def records(numbers):
    """Records that can be told apart by their number."""
    numbers = np.asarray(numbers, np.int64)
    return {
        "state": np.stack([numbers, -numbers], axis=1).astype(np.float32),
        "action": numbers % 3,
        "terminal": numbers % 2 == 0,
    }


def check_record(sample, i):
    number = int(sample["state"][i, 0])
    assert sample["state"][i, 1] == -number
    assert sample["action"][i] == number % 3
    assert sample["terminal"][i] == (number % 2 == 0)
    return number


def numbers_in(test, draws=300):
    """What the memory holds, as far as drawing shows it."""
    sample = test.test(("get_records", [draws]))
    return {check_record(sample, i) for i in range(draws)}


def test_insert_and_draw(backend):
    test = memory(10, backend)
    assert int(test.test("get_size")) == 0
    assert test.test(("insert_records", [records([1, 2, 3])])) is None
    assert int(test.test("get_size")) == 3
    sample = test.test(("get_records", [5]))
    assert {key: (value.shape, str(value.dtype)) for key, value in sample.items()} == {
        "action": ((5,), "int64"),
        "state": ((5, 2), "float32"),
        "terminal": ((5,), "bool"),
    }
    assert numbers_in(test) == {1, 2, 3}


def test_the_oldest_are_overwritten(backend):
    test = memory(4, backend)
    for batch in ([1, 2, 3], [4, 5], [6]):
        test.test(("insert_records", [records(batch)]))
    assert int(test.test("get_size")) == 4
    assert numbers_in(test) == {3, 4, 5, 6}


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.integers(1, 7), st.lists(st.integers(0, 20), max_size=8))
def test_a_ring_is_a_list_of_the_last_records(capacity, batches):
    test, model, number = memory(capacity), [], 0
    for size in batches:
        batch = list(range(number, number + size))
        number += size
        test.test(("insert_records", [records(batch)]))
        model = (model + batch)[-capacity:]
        assert int(test.test("get_size")) == len(model)
    values = test.read_variable_values()
    held = values["memory/rows/state"][: len(model), 0]
    assert sorted(held.tolist()) == model
    # Where the next one goes: behind the last, the oldest is overwritten.
    if len(model) == capacity:
        position = int(values["memory/cursor"][0])
        assert np.roll(values["memory/rows/state"][:, 0], -position).tolist() == model
        assert np.roll(values["memory/rows/action"], -position).tolist() == [n % 3 for n in model]


@pytest.mark.parametrize("size", [5, 6, 9, 10, 23])
def test_batches_larger_than_the_ring(size, backend):
    test = memory(5, backend)
    test.test(("insert_records", [records([100, 101])]))
    test.test(("insert_records", [records(range(size))]))
    assert numbers_in(test) == set(range(size - 5, size))
    test.test(("insert_records", [records([200])]))
    assert numbers_in(test) == {*range(size - 4, size), 200}


def test_draws_are_uniform_and_with_replacement(backend):
    test = memory(8, backend)
    test.test(("insert_records", [records(range(8))]))
    sample = test.test(("get_records", [8000]))["state"][:, 0]
    shares = np.bincount(sample.astype(int), minlength=8) / 8000
    assert np.abs(shares - 1 / 8).max() < 4.5 * np.sqrt(1 / 8 * 7 / 8 / 8000)
    assert len(test.test(("get_records", [20]))["action"]) == 20


def test_draws_depend_on_the_seed_only(backend):
    def drawn(name, seed):
        test = memory(50, name, seed=seed)
        test.test(("insert_records", [records(range(50))]))
        return test.test(("get_records", [30]))["state"][:, 0].tolist()

    assert drawn(backend, 1) == drawn("numpy", 1)
    assert drawn(backend, 1) != drawn(backend, 2)


def nested_records(numbers):
    numbers = np.asarray(numbers, np.int64)
    return {
        "reward": numbers.astype(np.float32),
        "state": {
            "image": np.repeat(numbers, 4).reshape(-1, 2, 2).astype(np.uint8),
            "position": (numbers / 2, np.stack([numbers / 100] * 3, axis=1)),
        },
    }


def test_nested_records(backend):
    test = memory(4, backend, NESTED)
    test.test(("insert_records", [nested_records([1, 2, 3])]))
    test.test(("insert_records", [nested_records([4, 5, 6])]))
    sample = test.test(("get_records", [60]))
    assert set(sample["reward"].tolist()) == {3.0, 4.0, 5.0, 6.0}
    expected = nested_records(sample["reward"].astype(int))
    np.testing.assert_array_equal(sample["state"]["image"], expected["state"]["image"])
    assert sample["state"]["image"].dtype == np.uint8
    np.testing.assert_allclose(sample["state"]["position"][0], expected["state"]["position"][0])
    np.testing.assert_allclose(sample["state"]["position"][1], expected["state"]["position"][1], rtol=1e-6)


def test_what_was_drawn_is_not_overwritten(backend):
    test = memory(2, backend)
    test.test(("insert_records", [records([1, 1])]))
    sample = test.test(("get_records", [3]))
    inserted = records([7, 7])
    test.test(("insert_records", [inserted]))
    np.testing.assert_array_equal(sample["state"][:, 0], [1, 1, 1])
    inserted["state"][...] = 0.0
    assert numbers_in(test) == {7}


def test_an_empty_memory(backend):
    with pytest.raises(RLGraphError, match="memory is empty: insert records before drawing from it"):
        memory(3, backend).test(("get_records", [1]))


def test_fields_of_different_length(backend):
    test = memory(5, backend)
    test.test(("insert_records", [records([1, 2])]))
    wrong = {**records([3, 4, 5]), "action": np.array([0, 1])}
    with pytest.raises(RLGraphError, match="insert_records: sizes of one name differ"):
        test.test(("insert_records", [wrong]))
    assert int(test.test("get_size")) == 2
    assert numbers_in(test) == {1, 2}


def test_rows_hold_elements_without_ranks():
    assert stacked(IntBox(0, 256, shape=(2,), dtype="uint8", add_batch_rank=True), 5) == IntBox(
        shape=(5, 2), dtype="uint8"
    )
    assert stacked(BoolBox(add_batch_rank=True), 3) == BoolBox(shape=(3,))
    assert stacked(FloatBox(-1.0, 1.0), 3).shape == (3,)


def test_store_wraps_around():
    rows = np.zeros(5, int)
    store(rows, 3, np.array([1, 2, 3]))
    assert rows.tolist() == [3, 0, 0, 1, 2]
    store(rows, 1, np.array([], int))
    assert rows.tolist() == [3, 0, 0, 1, 2]


@pytest.mark.parametrize("capacity", [0, -1, 2.0, True, "many"])
def test_wrong_capacity(capacity):
    with pytest.raises(SpecError, match="memory.capacity: expected an integer >= 1"):
        ReplayMemory(capacity)


@pytest.mark.parametrize(
    "space", [FloatBox(add_batch_rank=True), Dict(a=float), Tuple(float, add_batch_rank=True)]
)
def test_wrong_records(space):
    with pytest.raises(SpaceError, match="memory: records must be a Dict with batch rank"):
        memory(3, space=space)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="Linux tells how much memory is in use")
def test_room_that_is_not_used_takes_no_memory():
    def megabytes():
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6

    before = megabytes()
    test = memory(500_000, space=Dict(state=FloatBox(shape=(100,)), add_batch_rank=True))  # 200 MB
    test.test(("insert_records", [{"state": np.ones((10, 100), np.float32)}]))
    assert megabytes() - before < 50


def test_records_may_be_fragments(backend):
    """R2D2 replays stretches of steps: a record is [T, ...]."""
    space = Dict(state=FloatBox(shape=(2,)), reward=FloatBox(), add_batch_rank=True, add_time_rank=3)
    test = memory(4, backend, space)
    given = {"state": np.arange(36.0, dtype="float32").reshape(6, 3, 2), "reward": np.ones((6, 3), "float32")}
    given["reward"] *= np.arange(6)[:, None]
    test.test(("insert_records", [{key: values[:1] for key, values in given.items()}]))
    test.test(("insert_records", [{key: values[1:] for key, values in given.items()}]))
    drawn = test.test(("get_records", [40]))
    numbers = drawn["reward"][:, 0].astype(int)
    assert set(numbers) == {2, 3, 4, 5}
    assert np.array_equal(drawn["state"], given["state"][numbers])
    assert np.array_equal(drawn["reward"], given["reward"][numbers])


@pytest.mark.parametrize(
    ("space", "said"),
    [
        (
            FLAT.with_batch_rank(False),
            r"records must be a Dict with batch rank, Dict\(..., add_batch_rank=True\)",
        ),
        (FLAT.with_time_rank(), "records: expected fragments .* of one length, add_time_rank=20"),
        (
            Dict(state=Dict(order=TextBox()), add_batch_rank=True),
            "records/state/order: expected numbers, given TextBox",
        ),
    ],
)
def test_records_it_cannot_keep(space, said):
    with pytest.raises(SpaceError, match=said):
        memory(3, space=space)


def test_fewer_records_than_none():
    test = memory(3)
    test.test(("insert_records", [records([1])]))
    assert len(test.test(("get_records", [0]))["action"]) == 0
    with pytest.raises(InputError, match="memory: num_records: expected a number >= 0, given -2"):
        test.test(("get_records", [-2]))


@pytest.mark.parametrize("capacity", [10**14, 10**20])
def test_more_room_than_there_is(capacity):
    spaces = {"records": Dict(x=FloatBox(shape=(250,)), add_batch_rank=True), "num_records": int}
    said = f"variable memory/rows/x, .*, needs {capacity * 1000 / 2**30:,.1f} GiB"
    with pytest.raises(BuildError, match=said):
        ComponentTest(ReplayMemory(capacity), spaces, backend="numpy")
