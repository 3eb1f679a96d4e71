"""Rewards scaled by the deviation of their discounted sums, against a loop over steps and columns."""

import numpy as np
import pytest

from rlgraph.components import ReturnScaling
from rlgraph.core import InputError, SpecError
from rlgraph.spaces import FloatBox, SpaceError
from rlgraph.testing import ComponentTest

STEPS = FloatBox(add_batch_rank=True, add_time_rank=True, time_major=True)
SPACES = {"rewards": STEPS, "weights": STEPS}
RNG = np.random.default_rng(0)


def rollout(steps, columns):
    rewards, weights = RNG.exponential(size=(steps, columns)), RNG.random((steps, columns)) < 0.8
    return np.where(weights, rewards, np.nan).astype(np.float32), weights.astype(np.float32)


def test_sums_continue_in_the_next_rollout(backend):
    """Invalid steps, NaN here, are skipped: they change no sum, and become 0."""
    test = ComponentTest(ReturnScaling(0.9), SPACES, backend=backend)
    sums, seen = [0.0, 0.0, 0.0], []
    for _ in range(3):
        rewards, weights = rollout(4, 3)
        for row, counts in zip(rewards, weights, strict=True):
            for column in range(3):
                if counts[column]:
                    sums[column] = 0.9 * sums[column] + row[column]
                    seen.append(sums[column])
        expected = np.where(weights > 0, rewards, 0.0) / np.std(seen)
        test.test(("scale", [rewards, weights]), expected_outputs=expected, decimals=5)


def test_a_column_that_is_added_starts_at_0():
    test = ComponentTest(ReturnScaling(1.0), SPACES, backend="numpy")
    ones = np.ones((1, 1), np.float32)
    test.test(("scale", [ones, ones]))
    # Sums so far: 1; then 2 and 3: the deviation of 1, 2, 3 is sqrt(2/3).
    given, weights = np.array([[1.0, 3.0]], np.float32), np.ones((1, 2), np.float32)
    test.test(("scale", [given, weights]), expected_outputs=given / np.sqrt(2 / 3), decimals=5)


def test_rewards_that_are_0_stay_0():
    test = ComponentTest(ReturnScaling(), SPACES, backend="numpy")
    zeros = np.zeros((3, 2), np.float32)
    test.test(("scale", [zeros, zeros + 1]), expected_outputs=zeros)


def test_mistakes():
    with pytest.raises(SpecError, match=r"return-scaling.discount: .*given 1.5"):
        ReturnScaling(1.5)
    with pytest.raises(SpaceError, match="weights: expected the ranks of rewards"):
        ComponentTest(ReturnScaling(), {**SPACES, "rewards": STEPS.with_time_rank(False)}, backend="numpy")
    flat = dict.fromkeys(SPACES, STEPS.with_time_rank(False))
    with pytest.raises(SpaceError, match=r"rewards: expected steps \[T, B\], given"):
        ComponentTest(ReturnScaling(), flat, backend="numpy")
    test = ComponentTest(ReturnScaling(), SPACES, backend="numpy")
    many = np.zeros((1, 4097), np.float32)
    with pytest.raises(InputError, match="expected at most 4096 columns, given 4097"):
        test.test(("scale", [many, many]))


@pytest.mark.parametrize(("epsilon", "deviation"), [(0.0, 1.0), (1e-8, 0.1)])
def test_small_rewards_get_a_deviation_of_1_unless_epsilon_is_as_small(epsilon, deviation, backend):
    test = ComponentTest(ReturnScaling(0.0, epsilon), SPACES, backend=backend)
    rewards = (1e-5 * RNG.standard_normal((500, 2))).astype(np.float32)
    assert test.test("scale", rewards, np.ones_like(rewards)).std() == pytest.approx(deviation, rel=0.05)
