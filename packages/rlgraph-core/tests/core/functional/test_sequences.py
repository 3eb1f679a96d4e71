"""Sequences one after the other and side by side."""

import numpy as np
import pytest

from rlgraph.core.functional.sequences import (
    decayed_sums,
    sequence_decays,
    sequence_lengths,
    values_of_next_states,
)
from rlgraph.core.numpy.ops import NumpyOps

OPS = NumpyOps("float64")

#: The example in the documentation of RLgraph 0.5, and those of its tests.
PUBLISHED = [
    ([0, 0, 1, 0, 1], [3, 2], [1.0, 0.5, 0.25, 1.0, 0.5]),
    ([0, 0, 0, 0], [4], [1.0, 0.5, 0.25, 0.125]),
    ([0, 0, 1, 0], [3, 1], [1.0, 0.5, 0.25, 1.0]),
    ([1, 1, 1, 1], [1, 1, 1, 1], [1.0, 1.0, 1.0, 1.0]),
    ([1, 0, 0, 1], [1, 3], [1.0, 1.0, 0.5, 0.25]),
]


@pytest.mark.parametrize(("ends", "lengths", "decays"), PUBLISHED)
def test_lengths_and_decays(ends, lengths, decays):
    ends = np.array(ends, bool)
    given = sequence_lengths(OPS, ends)
    assert (given.tolist(), given.dtype) == (lengths, np.int64)
    np.testing.assert_allclose(sequence_decays(OPS, ends, 0.5), decays)


def test_decays_side_by_side():
    ends = np.array([[False, True], [True, False], [False, False]])
    np.testing.assert_allclose(sequence_decays(OPS, ends, 0.5), [[1.0, 1.0], [0.5, 1.0], [1.0, 0.5]])


def test_decayed_sums():
    ends = np.array([False, True, False, False])
    # 1 + 2/2 | 2 || 3 + 4/2 | 4
    np.testing.assert_allclose(
        decayed_sums(OPS, np.array([1.0, 2.0, 3.0, 4.0]), ends, 0.5), [2.0, 2.0, 5.0, 4.0]
    )
    # A decay per step is that of the step which looks ahead.
    decay = np.array([0.5, 9.0, 0.1, 9.0])
    np.testing.assert_allclose(
        decayed_sums(OPS, np.array([1.0, 2.0, 3.0, 4.0]), ends, decay), [2.0, 2.0, 3.4, 4.0]
    )


def test_decayed_sums_of_many_sequences():
    rng = np.random.default_rng(0)
    values, ends = rng.normal(size=(40, 3)), rng.random((40, 3)) < 0.2
    expected = np.zeros((40, 3))
    for column in range(3):
        total = 0.0
        for t in reversed(range(40)):
            total = values[t, column] + (0.0 if ends[t, column] else 0.7 * total)
            expected[t, column] = total
    np.testing.assert_allclose(decayed_sums(OPS, values, ends, 0.7), expected)


def test_next_states():
    values, behind = np.array([1.0, 2.0, 3.0]), np.array([7.0, 8.0, 9.0])
    assert values_of_next_states(OPS, values, np.array(9.0)).tolist() == [2.0, 3.0, 9.0]
    assert values_of_next_states(OPS, values, behind).tolist() == [2.0, 3.0, 9.0]
    ends = np.array([True, False, True])
    assert values_of_next_states(OPS, values, behind, ends).tolist() == [7.0, 3.0, 9.0]


def test_next_states_side_by_side():
    values = np.array([[1.0, 10.0], [2.0, 20.0]])
    assert values_of_next_states(OPS, values, np.array([3.0, 30.0])).tolist() == [[2.0, 20.0], [3.0, 30.0]]
