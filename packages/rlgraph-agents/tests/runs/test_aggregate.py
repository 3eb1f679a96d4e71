"""The interquartile mean against SciPy and by hand, the interval against its definition."""

import numpy as np
import pytest
from scipy.stats import trim_mean

from rlgraph.core import InputError
from rlgraph.runs.aggregate import bootstrap_interval, interquartile_mean


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([5.0], 5.0),
        ([1.0, 2.0, 6.0], 3.0),  # fewer than four: the mean
        ([100.0, 2.0, 4.0, -50.0], 3.0),
        ([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 1000.0], 3.5),
        ([0.0, 1.0, 2.0, 3.0, 1000.0], 2.0),  # 5 // 4 = 1 at either end
    ],
)
def test_by_hand(scores, expected):
    assert interquartile_mean(scores) == expected


@pytest.mark.parametrize("number", range(1, 14))
def test_against_scipy(number):
    scores = np.random.default_rng(number).normal(size=(number, 3))
    np.testing.assert_allclose(interquartile_mean(scores), trim_mean(scores, 0.25, axis=0), rtol=1e-12)
    np.testing.assert_allclose(
        interquartile_mean(scores.T, axis=1), trim_mean(scores.T, 0.25, axis=1), rtol=1e-12
    )


def test_the_interval_is_that_of_all_possible_draws():
    """Two runs with 0 and 1: draws give the means 0, 1/2, 1 with probabilities 1/4, 1/2, 1/4."""
    low, high = bootstrap_interval([np.array([0.0, 1.0])], confidence=0.4)
    assert (low, high) == (0.5, 0.5)
    low, high = bootstrap_interval([np.array([0.0, 1.0])], confidence=0.95)
    assert (low, high) == (0.0, 1.0)


def test_the_interval_against_a_naive_loop():
    scores = np.random.default_rng(3).normal(10.0, 2.0, size=9)
    generator = np.random.default_rng(99)
    means = sorted(trim_mean(generator.choice(scores, 9), 0.25) for _ in range(4000))
    low, high = bootstrap_interval([scores], resamples=4000)
    width = means[3900] - means[100]
    assert abs(low - means[100]) < 0.07 * width and abs(high - means[3900]) < 0.07 * width
    assert low < interquartile_mean(scores) < high


def test_runs_are_drawn_within_their_stratum():
    """Constant strata: however runs are drawn, the scores are the same, so the interval has no width."""
    strata = [np.full(3, 0.0), np.full(5, 10.0)]
    pooled = interquartile_mean(np.concatenate(strata))
    assert bootstrap_interval(strata) == (pooled, pooled)
    low, high = bootstrap_interval([np.concatenate(strata)])
    assert low < pooled < high


def test_points_of_a_curve_are_drawn_together():
    scores = np.random.default_rng(0).normal(size=(6, 1)) + np.zeros((6, 4))
    low, high = bootstrap_interval([scores])
    assert low.shape == high.shape == (4,)
    assert len(set(low)) == len(set(high)) == 1
    np.testing.assert_array_equal(bootstrap_interval([scores]), (low, high))  # seeded


def test_nothing_to_aggregate():
    with pytest.raises(InputError, match="expected at least one score, given none"):
        interquartile_mean([])
    for strata in ([], [np.ones(2), np.ones(0)]):
        with pytest.raises(InputError, match="expected runs in every stratum"):
            bootstrap_interval(strata)


def test_the_interval_of_another_statistic():
    """Of the share of ones among many, it is the normal approximation's, 1.96 standard errors."""
    ones = np.arange(1000) % 4 == 0
    low, high = bootstrap_interval([ones], statistic=lambda samples, axis: samples.mean(axis))
    error = 1.96 * np.sqrt(0.25 * 0.75 / 1000)
    np.testing.assert_allclose([low, high], [0.25 - error, 0.25 + error], atol=0.003)
