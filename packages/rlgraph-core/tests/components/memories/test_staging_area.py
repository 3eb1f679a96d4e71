import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rlgraph.components import StagingArea
from rlgraph.core import Component, QueueClosedError, QueueTimeoutError, SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, TextBox, Tuple
from rlgraph.testing import ComponentTest

BATCH = Dict(
    state=Tuple(FloatBox(shape=(2,)), BoolBox()),
    action=IntBox(4),
    add_batch_rank=3,
    add_time_rank=2,
)
LONG = 30


def area(space=BATCH, backend="numpy", timeout=0):
    return ComponentTest(StagingArea(timeout=timeout), {"values": space}, backend=backend)


def batch(number):
    return {
        "state": (np.full((3, 2, 2), number, np.float32), np.full((3, 2), number % 2 == 0)),
        "action": np.full((3, 2), number),
    }


def test_usage(backend):
    test = area(backend=backend)
    for number in (1, 2):
        test.test(("stage", [batch(number)]))
        test.test("unstage", expected_outputs=batch(number))


def test_one_tensor(backend):
    test = area(FloatBox(shape=(2,)), backend)
    test.test(("stage", [np.array([1.0, 2.0], np.float32)]))
    test.test("unstage", expected_outputs=np.array([1.0, 2.0], np.float32))


def test_there_is_room_for_one():
    test = area()
    with pytest.raises(QueueTimeoutError, match="staging-area: no element within 0 s"):
        test.executor.execute("unstage")
    test.executor.execute("stage", batch(1))
    with pytest.raises(QueueTimeoutError, match="staging-area: no room for an element within 0 s"):
        test.executor.execute("stage", batch(2))
    test.test("unstage", expected_outputs=batch(1))


def test_what_was_taken_stays_as_it_is():
    test = area()
    given = batch(1)
    test.executor.execute("stage", given)
    given["action"][:] = 9
    taken = test.executor.execute("unstage")
    test.executor.execute("stage", batch(2))
    np.testing.assert_equal(taken, batch(1))


def test_two_threads_in_turn(backend):
    """One is never more than one element ahead of the other, and neither misses one."""
    test, number = area(backend=backend, timeout=LONG), 40
    barrier = threading.Barrier(2)

    def stager():
        barrier.wait(LONG)
        for i in range(number):
            test.executor.execute("stage", batch(i))

    def user():
        barrier.wait(LONG)
        return [int(test.executor.execute("unstage")["action"][0, 0]) for _ in range(number)]

    with ThreadPoolExecutor(2) as pool:
        staged, used = pool.submit(stager), pool.submit(user)
        assert used.result(LONG) == list(range(number))
        staged.result(LONG)


def test_closing():
    test = area(timeout=LONG)
    test.executor.execute("stage", batch(1))
    test.executor.execute("close")
    with pytest.raises(
        QueueClosedError, match="staging-area is closed, there will be no room for an element"
    ):
        test.executor.execute("stage", batch(2))
    test.test("unstage", expected_outputs=batch(1))
    with pytest.raises(QueueClosedError, match="staging-area is closed, there will be no element"):
        test.executor.execute("unstage")
    with pytest.raises(QueueClosedError, match="will be no room"):  # though there is room
        test.executor.execute("stage", batch(2))
    test.executor.execute("reopen")
    test.executor.execute("stage", batch(3))
    test.test("unstage", expected_outputs=batch(3))


def test_it_is_saved_and_loaded(backend, tmp_path):
    first, second = area(backend=backend), area(backend=backend)
    first.executor.execute("stage", batch(5))
    first.executor.save(tmp_path / "checkpoint")
    second.executor.load(tmp_path / "checkpoint")
    second.test("unstage", expected_outputs=batch(5))


def test_specs():
    made = Component.from_spec({"type": "staging_area", "timeout": 1})
    assert (type(made), made.timeout) == (StagingArea, 1)
    with pytest.raises(SpecError, match="staging-area.timeout: expected seconds >= 0"):
        StagingArea(timeout=-0.5)


@pytest.mark.parametrize(
    ("space", "said"),
    [
        (
            FloatBox(add_batch_rank=True),
            "values: expected numbers of known sizes, .* add_batch_rank=32, given",
        ),
        (
            Dict(a=FloatBox(), add_batch_rank=4, add_time_rank=True),
            "values/a: expected numbers of known sizes",
        ),
        (TextBox(), "values: expected numbers of known sizes"),
    ],
)
def test_spaces_it_cannot_take(space, said):
    with pytest.raises(SpaceError, match=said):
        area(space)
