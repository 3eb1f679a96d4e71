"""Demonstrations stay, and have an epsilon of their own; everything else is a ring in the other places."""

import numpy as np
import pytest

from rlgraph.components import DemonstrationReplay
from rlgraph.core import InputError, SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, Tuple
from rlgraph.testing import ComponentTest

SPACES = {
    "records": Dict(
        state=Dict(number=IntBox(), pair=Tuple(FloatBox(shape=(2,)), BoolBox())),
        demonstrations=BoolBox(),
        add_batch_rank=True,
    ),
    "num_records": IntBox(),
    "progress": FloatBox(),
    "indices": IntBox(add_batch_rank=True),
    "errors": FloatBox(add_batch_rank=True),
}


def memory(capacity, backend="numpy", **options):
    return ComponentTest(DemonstrationReplay(capacity, **options), SPACES, backend=backend, seed=10)


def insert(test, numbers, demonstrations):
    numbers = np.asarray(numbers)
    pairs = np.stack([numbers, -numbers], axis=1).astype(np.float32), numbers % 2 == 0
    flags = np.broadcast_to(demonstrations, numbers.shape)
    records = {"state": {"number": numbers, "pair": pairs}, "demonstrations": flags}
    test.test(("insert_records", [records]))


def held(test):
    """The numbers of all records, by place; -1: there is none."""
    values = test.read_variable_values()
    size = int(values["memory/cursor"][1])
    numbers = values["memory/rows/state/number"].copy()
    numbers[size:] = -1
    return numbers.tolist()


def priorities(test):
    nodes = test.read_variable_values()["memory/priorities"]
    return nodes[len(nodes) // 2 :]


def test_demonstrations_are_never_overwritten(backend):
    test = memory(6, backend)
    insert(test, [1, 2], True)
    insert(test, [10, 11, 12], False)
    assert held(test) == [1, 2, 10, 11, 12, -1]
    insert(test, [13, 14], False)
    assert held(test) == [1, 2, 14, 11, 12, 13]
    insert(test, range(20, 31), False)  # more than there is room for: the last four stay
    assert held(test)[:2] == [1, 2] and sorted(held(test)[2:]) == [27, 28, 29, 30]
    insert(test, [40], False)  # in place of the oldest
    assert sorted(held(test)[2:]) == [28, 29, 30, 40]
    records = test.test(("get_records", [200, np.float32(0.0)]))[0]
    shown, flags = records["state"]["number"], records["demonstrations"]
    assert set(shown[flags]) == {1, 2} and set(shown[~flags]) == {28, 29, 30, 40}
    np.testing.assert_array_equal(records["state"]["pair"][0][:, 1], -shown)
    np.testing.assert_array_equal(records["state"]["pair"][1], shown % 2 == 0)


def test_demonstrations_that_come_later_and_among_others():
    test = memory(6)
    insert(test, [10, 11, 12], False)
    insert(test, [13, 1, 14, 2], [False, True, False, True])
    assert held(test)[:2] == [1, 2] and set(held(test)[2:]) <= {12, 13, 14, -1}
    insert(test, range(20, 30), False)
    insert(test, [3], True)
    assert held(test)[:3] == [1, 2, 3] and set(held(test)[3:]) < {26, 27, 28, 29}
    for number in range(40, 50):
        insert(test, [number], False)
    assert held(test)[:3] == [1, 2, 3] and sorted(held(test)[3:]) == [47, 48, 49]
    assert (priorities(test)[:6] > 0).all()


def test_what_is_added_to_errors(backend):
    test = memory(4, backend, alpha=0.5, epsilon=0.25, demonstration_epsilon=3.0, max_weight_of="memory")
    insert(test, [1], True)
    insert(test, [10, 11], False)
    np.testing.assert_allclose(priorities(test), [1.0, 1.0, 1.0, 0.0])
    test.test(("update_records", [[0, 1, 2], [1.0, 2.0, -0.75]]))
    # By hand: the roots of 1 + 3, 2 + 0.25 and 0.75 + 0.25.
    np.testing.assert_allclose(priorities(test), [2.0, 1.5, 1.0, 0.0])
    _, indices, weights = test.test(("get_records", [450, np.float32(0.0)]))
    assert np.abs(np.bincount(indices) - [200, 150, 100]).max() <= 1
    expected = np.array([1 / 2, 2 / 3, 1.0])[indices] ** 0.6
    np.testing.assert_allclose(weights, expected, rtol=1e-6)
    insert(test, [12], False)  # the largest priority so far
    np.testing.assert_allclose(priorities(test), [2.0, 1.5, 1.0, 2.0])


def test_without_room(backend):
    test = memory(3, backend)
    insert(test, [10], False)
    insert(test, [1, 2, 3], True)
    assert held(test) == [1, 2, 3]
    with pytest.raises(InputError, match="memory: expected at most 3 demonstrations, the capacity, given 4"):
        insert(test, [4], True)
    with pytest.raises(InputError, match="memory: expected a capacity above 3, the number of demonstrations"):
        insert(test, [11], False)
    assert held(test) == [1, 2, 3]


@pytest.mark.parametrize(
    "flags", [None, FloatBox(), BoolBox(shape=(1,))], ids=["missing", "floats", "with an axis"]
)
def test_records_need_a_flag(flags):
    fields = {"number": IntBox(), "demonstrations": flags}
    records = Dict({name: box for name, box in fields.items() if box is not None}, add_batch_rank=True)
    with pytest.raises(SpaceError, match="memory: records/demonstrations: expected one flag per record"):
        ComponentTest(DemonstrationReplay(4), {**SPACES, "records": records}, backend="numpy")


def test_wrong_options():
    with pytest.raises(SpecError, match="memory.demonstration_epsilon: expected a number >= 0, given -1"):
        DemonstrationReplay(4, demonstration_epsilon=-1)
    with pytest.raises(
        SpecError, match=r"memory\.frame_stack: expected none, .* demonstrations stay; given 4"
    ):
        DemonstrationReplay(4, frame_stack=4)
