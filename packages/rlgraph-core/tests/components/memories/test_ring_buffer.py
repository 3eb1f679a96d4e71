"""The latest records and episodes, against a plain list."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlgraph.components import RingBuffer
from rlgraph.core import InputError, RLGraphError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox
from rlgraph.testing import ComponentTest

SPACES = {
    "records": Dict(number=IntBox(), terminals=BoolBox(), truncations=BoolBox(), add_batch_rank=True),
    "num_records": IntBox(),
    "num_episodes": IntBox(),
}


def records(numbers, terminals=(), truncations=()):
    return {
        "number": np.array(numbers),
        "terminals": np.isin(numbers, terminals),
        "truncations": np.isin(numbers, truncations),
    }


def made(capacity, backend="numpy"):
    return ComponentTest(RingBuffer(capacity), SPACES, backend=backend)


def test_latest_records_in_order_beyond_the_wrap(backend):
    test = made(5, backend)
    test.test(("insert_records", [records([0, 1, 2])]))
    test.test(("get_records", 2), which="number", expected_outputs=[1, 2])
    test.test(("insert_records", [records([3, 4, 5, 6])]))
    test.test(("get_records", 5), which="number", expected_outputs=[2, 3, 4, 5, 6])
    test.test("get_size", expected_outputs=5)


def test_episodes_end_at_terminals_and_truncations(backend):
    test = made(10, backend)
    test.test(("insert_records", [records(range(8), terminals=[2], truncations=[5])]))
    test.test(("get_episodes", 1), which="number", expected_outputs=[3, 4, 5])
    test.test(("get_episodes", 2), which="number", expected_outputs=[0, 1, 2, 3, 4, 5])


def test_an_episode_without_its_beginning_is_none():
    test = made(5)
    test.test(("insert_records", [records(range(5), terminals=[1, 4])]))
    test.test(("get_episodes", 2), which="number", expected_outputs=[0, 1, 2, 3, 4])
    test.test(("insert_records", [records([5])]))  # 0 is gone
    test.test(("get_episodes", 1), which="number", expected_outputs=[2, 3, 4])
    with pytest.raises(RLGraphError, match="expected 2 whole episodes, it holds 1 in 5 of 5 records"):
        test.test(("get_episodes", 2))
    test.test(("insert_records", [records([6], terminals=[6])]))  # 1, the end of the broken one, is gone
    test.test(("get_episodes", 2), which="number", expected_outputs=[2, 3, 4, 5, 6])


@pytest.mark.parametrize(("last", "whole"), [(2, [3, 4, 5, 6]), (5, [6])])
def test_as_many_as_there_is_room_for(last, whole):
    """All that was held goes; whether an episode begins with what comes, the last record that went says."""
    test = made(5)
    test.test(("insert_records", [records(range(3), terminals=[last])]))
    test.test(("insert_records", [records(range(3, 8), terminals=[last, 6])]))
    test.test(("get_episodes", 1), which="number", expected_outputs=whole)
    with pytest.raises(RLGraphError, match="it holds 1 in 5 of 5 records"):
        test.test(("get_episodes", 2))


def test_cleared():
    test = made(5)
    test.test(("insert_records", [records(range(7), terminals=[3])]))
    test.test("clear")
    test.test("get_size", expected_outputs=0)
    test.test(("insert_records", [records([9], terminals=[9])]))
    test.test(("get_episodes", 1), which="number", expected_outputs=[9])


def test_too_many_records_are_asked_for():
    test = made(5)
    with pytest.raises(RLGraphError, match="memory: expected 1 records, it holds 0"):
        test.test(("get_records", 1))


def test_records_that_do_not_say_where_episodes_end():
    spaces = {**SPACES, "records": Dict(number=FloatBox(), add_batch_rank=True)}
    test = ComponentTest(RingBuffer(3), spaces, backend="numpy")
    test.test(("insert_records", [{"number": np.zeros(2, np.float32)}]))
    with pytest.raises(
        RLGraphError, match="a bool field, .*named terminals or truncations, given (number|terminals)$"
    ):
        test.test(("get_episodes", 1))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.lists(st.lists(st.booleans(), min_size=1, max_size=12), min_size=1, max_size=6))
def test_as_a_list(capacity, inserts):
    """Every number of latest records and of whole episodes, as a list of everything says."""
    test, everything = made(capacity), []
    for ends in inserts:
        numbers = np.arange(len(everything), len(everything) + len(ends))
        everything += ends
        given = {
            "number": numbers,
            "terminals": ends & (numbers % 2 == 0),
            "truncations": ends & (numbers % 2 == 1),
        }
        test.test(("insert_records", [given]))
    oldest = max(len(everything) - capacity, 0)
    held = list(range(oldest, len(everything)))
    for number in range(len(held) + 1):
        test.test(("get_records", number), which="number", expected_outputs=held[len(held) - number :])
    episodes, start = [], 0
    for number, ended in enumerate(everything):
        if ended:
            episodes.append(list(range(start, number + 1)))
            start = number + 1
    whole = [episode for episode in episodes if episode[0] >= oldest]
    for number in range(len(whole) + 1):
        expected = [each for episode in whole[len(whole) - number :] for each in episode]
        test.test(("get_episodes", number), which="number", expected_outputs=expected)
    with pytest.raises(RLGraphError, match=f"it holds {len(whole)} in"):
        test.test(("get_episodes", len(whole) + 1))


@pytest.mark.parametrize(
    ("method", "name"), [("get_records", "num_records"), ("get_episodes", "num_episodes")]
)
def test_fewer_than_none(method, name):
    test = made(5)
    test.test(("insert_records", [records(range(4), terminals=[1, 3])]))
    assert len(test.test((method, 0))["number"]) == 0
    with pytest.raises(InputError, match=f"memory: {name}: expected a number >= 0, given -1"):
        test.test((method, -1))


def test_flags_of_several_numbers_end_no_episodes():
    spaces = {**SPACES, "records": Dict(terminals=BoolBox(shape=(2,)), add_batch_rank=True)}
    test = ComponentTest(RingBuffer(5), spaces, backend="numpy")
    test.test(("insert_records", [{"terminals": np.ones((3, 2), bool)}]))
    with pytest.raises(
        RLGraphError, match="a bool field, .*named terminals or truncations, given (number|terminals)$"
    ):
        test.test(("get_episodes", 1))
