"""Epsilon-greedy draws inside of programs: the same distribution as on the host."""

import numpy as np
import pytest

from rlgraph.components import EpsilonGreedy
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox
from rlgraph.testing import ComponentTest

ROWS = 20_000


def explored(actions, greedy, in_graph, mask=None, progress=0.5, **options):
    exploration = EpsilonGreedy(actions, {"type": "linear_decay", "from": 1.0, "to": 0.2}, **options)
    exploration.draws_in_graph = in_graph
    spaces = {"actions": actions.with_batch_rank(), "progress": FloatBox(0.0, 1.0)}
    arguments = {"actions": greedy, "progress": np.float32(progress)}
    if mask is not None:
        states = Dict(states=FloatBox(), action_mask=BoolBox(shape=mask.shape[1:]))
        spaces["observations"] = states.with_batch_rank()
        arguments["observations"] = {"states": np.zeros(len(mask), np.float32), "action_mask": mask}
    test = ComponentTest(exploration, spaces, backend="numpy")
    return test.executor.execute("get_action", **arguments)


@pytest.mark.parametrize("in_graph", [False, True])
def test_each_action_is_as_frequent_as_epsilon_says(in_graph):
    # Epsilon is 0.6 in the middle: 0.15 for each of 4 actions, and 0.4 for the greedy one besides.
    drawn = explored(IntBox(4), np.full(ROWS, 2), in_graph)
    shares = np.bincount(drawn, minlength=4) / ROWS
    np.testing.assert_allclose(shares, [0.15, 0.15, 0.55, 0.15], atol=0.012)


@pytest.mark.parametrize("in_graph", [False, True])
def test_only_legal_actions_are_drawn(in_graph):
    mask = np.array([[True, False, True, False], [False] * 4]).repeat(ROWS // 2, axis=0)
    drawn = explored(IntBox(4), np.full(ROWS, 2), in_graph, mask)
    half = ROWS // 2
    np.testing.assert_allclose(
        np.bincount(drawn[:half], minlength=4) / half, [0.3, 0.0, 0.7, 0.0], atol=0.015
    )
    np.testing.assert_allclose(
        np.bincount(drawn[half:], minlength=4) / half, [0.15, 0.15, 0.55, 0.15], atol=0.015
    )


@pytest.mark.parametrize("in_graph", [False, True])
@pytest.mark.parametrize("each_part", [False, True])
def test_parts_are_random_together_or_each(in_graph, each_part):
    actions = Dict(a=IntBox(1000, shape=(2,)), b=IntBox(1000))
    greedy = {"a": np.zeros((ROWS, 2), np.int64), "b": np.zeros(ROWS, np.int64)}
    drawn = explored(actions, greedy, in_graph, each_part=each_part)
    one, other = drawn["a"][:, 0] > 0, drawn["b"] > 0
    np.testing.assert_allclose([one.mean(), other.mean()], 0.6, atol=0.015)
    np.testing.assert_allclose((one & other).mean(), 0.36 if each_part else 0.6, atol=0.015)


def test_bools():
    drawn = explored(BoolBox(), np.zeros(ROWS, bool), True)
    assert drawn.dtype == bool
    assert abs(drawn.mean() - 0.3) < 0.012


def test_elements_with_different_numbers_of_actions_are_drawn_on_the_host():
    assert EpsilonGreedy(IntBox([3, 5])).draws_in_graph is None
    assert EpsilonGreedy(IntBox(3, shape=(2,))).draws_in_graph is False
