"""The formulas of the papers, on numbers worked out by hand."""

import math

import numpy as np
import pytest

from rlgraph.core.functional.dueling import dueling_q_values
from rlgraph.core.functional.optimization import adam, clip_by_global_norm
from rlgraph.core.functional.q_learning import (
    action_values,
    branching_td_errors,
    double_q_next_values,
    expected_next_values,
    huber,
    q_learning_target,
)
from rlgraph.core.numpy.ops import NumpyOps

OPS = NumpyOps("float64")


def test_dueling():
    q = dueling_q_values(OPS, np.array([[10.0], [0.0]]), np.array([[1.0, 2.0, 6.0], [0.0, 0.0, 3.0]]))
    np.testing.assert_allclose(q, [[8.0, 9.0, 13.0], [-1.0, -1.0, 2.0]])
    two = dueling_q_values(
        OPS, np.array([[10.0]]), np.array([[1.0, 2.0, np.inf]]), np.array([True, True, False])
    )
    np.testing.assert_allclose(two[:, :2], [[9.5, 10.5]])


def test_action_values():
    assert action_values(OPS, np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, 0])).tolist() == [2.0, 3.0]


def test_targets():
    target = q_learning_target(
        OPS, np.array([1.0, 1.0, -2.0]), np.array([False, True, False]), np.array([10.0, np.inf, 4.0]), 0.5
    )
    assert target.tolist() == [6.0, 1.0, 0.0]


@pytest.mark.parametrize(
    "discount", [1, 1.0, np.float32(1.0), np.array(1.0), np.ones(2)], ids=lambda x: type(x).__name__
)
def test_errors_of_parts_of_an_action(discount):
    taken, next_values = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 7.0], [9.0, 9.0]])
    given = (taken, np.array([1.0, 2.0]), np.array([False, True]), next_values, discount)
    assert branching_td_errors(OPS, *given).tolist() == [[5.0, 6.0], [-1.0, -2.0]]
    assert branching_td_errors(OPS, *given, shared_target=True).tolist() == [[6.0, 5.0], [-1.0, -2.0]]


def test_double_q():
    values = double_q_next_values(OPS, np.array([[1.0, 2.0], [5.0, 5.0]]), np.array([[7.0, 3.0], [4.0, 9.0]]))
    assert values.tolist() == [3.0, 4.0]


def test_huber():
    errors = np.array([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0])
    np.testing.assert_allclose(huber(OPS, errors), [2.5, 0.5, 0.125, 0.0, 0.125, 0.5, 2.5])
    np.testing.assert_allclose(huber(OPS, errors, 2.0), [4.0, 0.5, 0.125, 0.0, 0.125, 0.5, 4.0])


def test_clipping():
    clipped = clip_by_global_norm(OPS, [np.array([3.0, 0.0]), np.array([4.0])], 1.0)
    np.testing.assert_allclose(np.concatenate(clipped), [0.6, 0.0, 0.8], rtol=1e-6)
    same = clip_by_global_norm(OPS, [np.array([3.0, 0.0]), np.array([4.0])], 5.1)
    np.testing.assert_array_equal(np.concatenate(same), [3.0, 0.0, 4.0])
    zero = clip_by_global_norm(OPS, [np.zeros(2)], 1.0)
    np.testing.assert_array_equal(zero[0], [0.0, 0.0])


def test_two_steps_of_adam():
    # g = 2, then g = -1, with beta1 0.5, beta2 0.75, learning rate 0.1.
    v, m1, m2 = adam(
        OPS, np.array([1.0]), np.array([2.0]), np.zeros(1), np.zeros(1), 1.0, 0.1, 0.5, 0.75, 0.0
    )
    # m = 1, v = 1; corrected by 0.5 and 0.25: 2 and 4; a step of 0.1 * 2 / 2.
    np.testing.assert_allclose([v[0], m1[0], m2[0]], [0.9, 1.0, 1.0])
    v, m1, m2 = adam(OPS, v, np.array([-1.0]), m1, m2, 2.0, 0.1, 0.5, 0.75, 0.0)
    # m = 0.5*1 - 0.5 = 0; v = 0.75 + 0.25 = 1: no step at all.
    np.testing.assert_allclose([v[0], m1[0], m2[0]], [0.9, 0.0, 1.0])
    v, m1, m2 = adam(OPS, v, np.array([2.0]), m1, m2, 3.0, 0.1, 0.5, 0.75, 0.0)
    # m = 1, v = 1.75; corrected by 0.875 and 1 - 27/64.
    np.testing.assert_allclose(v[0], 0.9 - 0.1 * (1 / 0.875) / math.sqrt(1.75 / (37 / 64)))


def test_expected_values():
    values = expected_next_values(OPS, np.array([[1.0, 5.0]]), np.array([[0.25, 0.75]]))
    assert values.tolist() == [4.0]
