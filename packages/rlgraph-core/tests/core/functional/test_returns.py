"""Returns and advantages: numbers worked out by hand, and loops over single trajectories."""

import numpy as np
import pytest

from rlgraph.core.functional.returns import (
    advantages_across_episodes,
    discounted_returns,
    generalized_advantage_estimation,
    lambda_returns,
    n_step_returns,
    td_errors,
)
from rlgraph.core.functional.sequences import values_of_next_states
from rlgraph.core.numpy.ops import NumpyOps

OPS = NumpyOps("float64")
STEPS = 30

# Three steps, the state behind them has value 8; everything is a sum of halves.
REWARDS, VALUES, NEXT = np.array([1.0, 2.0, 4.0]), np.array([3.0, 5.0, 6.0]), np.array([5.0, 6.0, 8.0])
GOES_ON, FALLS = np.array([False, False, False]), np.array([False, False, True])
CUT = np.array([False, True, False])


def test_td_errors():
    # 1 + 2.5 - 3, 2 + 3 - 5, 4 + 4 - 6; without what follows 4 - 6.
    assert td_errors(OPS, REWARDS, VALUES, NEXT, GOES_ON, 0.5).tolist() == [0.5, 0.0, 2.0]
    assert td_errors(OPS, REWARDS, VALUES, NEXT, FALLS, 0.5).tolist() == [0.5, 0.0, -2.0]


def test_discounted_returns():
    # 4 + 4 = 8, 2 + 4 = 6, 1 + 3 = 4.
    assert discounted_returns(OPS, REWARDS, NEXT, GOES_ON, 0.5).tolist() == [4.0, 6.0, 8.0]
    # 4, 2 + 2, 1 + 2.
    assert discounted_returns(OPS, REWARDS, NEXT, FALLS, 0.5).tolist() == [3.0, 4.0, 4.0]
    # The second step is the last of its fragment: 2 + 6/2 = 5, 1 + 5/2.
    assert discounted_returns(OPS, REWARDS, NEXT, FALLS, 0.5, CUT).tolist() == [3.5, 5.0, 4.0]


def test_lambda_returns():
    # 8; 2 + (6 + 8)/4 = 5.5; 1 + (5 + 5.5)/4.
    assert lambda_returns(OPS, REWARDS, NEXT, GOES_ON, 0.5, 0.5).tolist() == [3.625, 5.5, 8.0]
    # Terminated: 4; 2 + (6 + 4)/4 = 4.5; 1 + (5 + 4.5)/4.
    assert lambda_returns(OPS, REWARDS, NEXT, FALLS, 0.5, 0.5).tolist() == [3.375, 4.5, 4.0]
    # Cut: 2 + 6/2 = 5; 1 + (5 + 5)/4.
    assert lambda_returns(OPS, REWARDS, NEXT, FALLS, 0.5, 0.5, CUT).tolist() == [3.5, 5.0, 4.0]


def test_n_step_returns():
    # 1 + 2/2 + 6/4; 2 + 4/2 + 8/4; 4 + 8/2.
    assert n_step_returns(OPS, REWARDS, NEXT, GOES_ON, 0.5, 2).tolist() == [3.5, 6.0, 8.0]
    assert n_step_returns(OPS, REWARDS, NEXT, FALLS, 0.5, 2).tolist() == [3.5, 4.0, 4.0]
    assert n_step_returns(OPS, REWARDS, NEXT, FALLS, 0.5, 1).tolist() == [3.5, 5.0, 4.0]


def test_a_discount_per_step():
    discounts = np.array([0.5, 0.25, 2.0])
    # 4 + 2*8; 2 + 20/4; 1 + 7/2.
    assert discounted_returns(OPS, REWARDS, NEXT, GOES_ON, discounts).tolist() == [4.5, 7.0, 20.0]
    # 1 + 2/2 + 6/8; 2 + 4/4 + 8/2; 20.
    assert n_step_returns(OPS, REWARDS, NEXT, GOES_ON, discounts, 2).tolist() == [2.75, 7.0, 20.0]


def test_advantages():
    # Errors 0.5, 0, 2 and a factor of 0.25: 2; 0.5; 0.5 + 0.125.
    advantages = generalized_advantage_estimation(OPS, REWARDS, VALUES, NEXT, GOES_ON, 0.5, 0.5)
    assert advantages.tolist() == [0.625, 0.5, 2.0]
    advantages = generalized_advantage_estimation(OPS, REWARDS, VALUES, NEXT, FALLS, 0.5, 0.5, CUT)
    assert advantages.tolist() == [0.5, 0.0, -2.0]


def test_advantages_published_by_rlgraph():
    """Its test with lambda 0.5: the fragment is bootstrapped with the value of its own last state."""
    rewards, values = np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 3.0])
    next_values = values_of_next_states(OPS, values, values)
    errors = td_errors(OPS, rewards, values, next_values, GOES_ON, 0.99)
    np.testing.assert_allclose(errors, [1.08, 1.17, 0.27])
    advantages = generalized_advantage_estimation(OPS, rewards, values, next_values, GOES_ON, 0.99, 0.5)
    np.testing.assert_allclose(advantages, [1.08 + 0.495 * (1.17 + 0.495 * 0.27), 1.17 + 0.495 * 0.27, 0.27])


def trajectories(seed):
    """Rewards, values, next values, terminated and ends of two columns ``[T, 2]``."""
    rng = np.random.default_rng(seed)
    floats = rng.normal(size=(3, STEPS, 2))
    terminated, ends = rng.random((2, STEPS, 2)) < 0.15
    return *floats, terminated, ends


def fragments(terminated, ends):
    """(column, first step, step behind the last) of every fragment."""
    for column in range(2):
        first = 0
        for t in range(STEPS):
            if terminated[t, column] or ends[t, column] or t == STEPS - 1:
                yield column, first, t + 1
                first = t + 1


def n_step_return(rewards, next_values, terminated, discount, t, n):
    """Of one fragment, the sum written out."""
    n = min(n, len(rewards) - t)
    total = sum(discount**k * rewards[t + k] for k in range(n))
    return total if terminated[t + n - 1] else total + discount**n * next_values[t + n - 1]


@pytest.mark.parametrize("seed", [0, 1])
def test_returns_of_fragments(seed):
    rewards, _, next_values, terminated, ends = trajectories(seed)
    discount, lambda_ = 0.9, 0.7
    whole, by_three, mixed = (np.zeros((STEPS, 2)) for _ in range(3))
    for column, first, behind in fragments(terminated, ends):
        rows = slice(first, behind), column
        one = (rewards[rows], next_values[rows], terminated[rows], discount)
        length = behind - first
        for t in range(length):
            whole[first + t, column] = n_step_return(*one, t, STEPS)
            by_three[first + t, column] = n_step_return(*one, t, 3)
            # Sutton and Barto (2018), eq. 12.3: a mean of all n-step returns; the last has the weight that is left.
            left = length - t
            weights = [(1 - lambda_) * lambda_ ** (n - 1) for n in range(1, left)] + [lambda_ ** (left - 1)]
            returns = [n_step_return(*one, t, n) for n in range(1, left + 1)]
            mixed[first + t, column] = np.dot(weights, returns)
    arguments = (OPS, rewards, next_values, terminated, discount)
    np.testing.assert_allclose(discounted_returns(*arguments, ends), whole)
    np.testing.assert_allclose(n_step_returns(*arguments, 3, ends), by_three)
    np.testing.assert_allclose(lambda_returns(*arguments, lambda_, ends), mixed)
    flat = lambda_returns(
        OPS, rewards[:, 0], next_values[:, 0], terminated[:, 0], discount, lambda_, ends[:, 0]
    )
    np.testing.assert_allclose(flat, mixed[:, 0])


@pytest.mark.parametrize("seed", [0, 1])
def test_advantages_of_fragments(seed):
    """Schulman et al. (2016), eq. 16, as the sum that it is."""
    rewards, values, next_values, terminated, ends = trajectories(seed)
    expected = np.zeros((STEPS, 2))
    for column, first, behind in fragments(terminated, ends):
        for t in range(first, behind):
            for k in range(t, behind):
                follows = 0.0 if terminated[k, column] else next_values[k, column]
                error = rewards[k, column] + 0.9 * follows - values[k, column]
                expected[t, column] += (0.9 * 0.7) ** (k - t) * error
    arguments = (rewards, values, next_values, terminated)
    given = generalized_advantage_estimation(OPS, *arguments, 0.9, 0.7, ends)
    np.testing.assert_allclose(given, expected)
    discounts = np.full((STEPS, 2), 0.9)
    given = generalized_advantage_estimation(OPS, *arguments, discounts, 0.7, ends)
    np.testing.assert_allclose(given, expected)


def test_what_follows_a_terminated_step_does_not_matter():
    other = np.array([5.0, 6.0, 77.0])
    for returns in (
        lambda values: td_errors(OPS, REWARDS, VALUES, values, FALLS, 0.5),
        lambda values: discounted_returns(OPS, REWARDS, values, FALLS, 0.5),
        lambda values: lambda_returns(OPS, REWARDS, values, FALLS, 0.5, 0.5),
        lambda values: n_step_returns(OPS, REWARDS, values, FALLS, 0.5, 2),
        lambda values: generalized_advantage_estimation(OPS, REWARDS, VALUES, values, FALLS, 0.5, 0.5),
    ):
        assert returns(other).tolist() == returns(NEXT).tolist()


def test_advantages_across_episodes():
    """Rows that are no steps, at any place, are as if they were not there, in each column."""
    rng = np.random.default_rng(0)
    rewards, values, next_values = rng.normal(size=(3, 9, 4))
    valid = rng.random((9, 4)) < 0.6
    valid[:, 3] = [False, True, True, False, False, True, False, True, False]
    for each in (rewards, values, next_values):
        each[~valid] = np.nan
    given = advantages_across_episodes(OPS, rewards, values, next_values, valid, 0.9, 0.8)
    for column in range(4):
        steps, expected = np.flatnonzero(valid[:, column]), np.zeros(9)
        following, advantage = next_values[steps[-1], column], 0.0
        for t in reversed(steps):
            error = rewards[t, column] + 0.9 * following - values[t, column]
            expected[t] = advantage = error + 0.9 * 0.8 * advantage
            following = values[t, column]
        np.testing.assert_allclose(given[:, column], expected, rtol=1e-12)
