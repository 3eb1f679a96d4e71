"""Sequences one after the other and side by side."""

import numpy as np
import pytest

from rlgraph.core.functional.sequences import (
    decayed_sums,
    n_step_rewards,
    sequence_decays,
    sequence_lengths,
    sequence_priorities,
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


@pytest.mark.parametrize("n_step", [1, 3, 6])
def test_n_step_rewards_of_padded_sequences(n_step):
    """Against a loop; garbage in the padding counts nowhere."""
    rng = np.random.default_rng(n_step)
    lengths, rewards = [6, 4, 1], rng.normal(size=(6, 3))
    valid = np.arange(6)[:, None] < np.array(lengths)
    rewards[~valid] = np.nan
    sums, factors, lasts = n_step_rewards(OPS, rewards, valid, n_step, 0.9)
    for column, length in enumerate(lengths):
        for t in range(length):
            steps = range(t, min(t + n_step, length))
            assert sums[t, column] == pytest.approx(sum(0.9 ** (k - t) * rewards[k, column] for k in steps))
            assert factors[t, column] == pytest.approx(0.9 ** len(steps))
            assert lasts[t, column] == steps[-1]
    assert (sums[~valid] == 0.0).all() and (factors[~valid] == 1.0).all() and (lasts < 6).all()


def test_priorities_of_sequences():
    errors = np.array([[1.0, -3.0], [-5.0, 2.0], [9.0, -1.0]])
    valid = np.array([[True, True], [True, True], [False, True]])
    # 0.9 * 5 + 0.1 * 3, 0.9 * 3 + 0.1 * 2
    np.testing.assert_allclose(sequence_priorities(OPS, errors, valid, 0.9), [4.8, 2.9])
