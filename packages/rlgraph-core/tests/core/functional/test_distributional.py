"""Distributions of returns: projections worked out by hand and by the algorithms of the papers."""

import numpy as np
import pytest

from rlgraph.core.functional.distributional import (
    categorical_means,
    categorical_projection,
    distributional_targets,
    quantile_huber_loss,
    quantile_means,
    quantile_midpoints,
    quantile_projection,
)
from rlgraph.core.numpy.ops import NumpyOps

OPS = NumpyOps("float64")


def test_targets():
    rewards, terminals = np.array([1.0, 2.0]), np.array([False, True])
    support = np.array([-2.0, 0.0, 2.0])
    expected = [[0.0, 1.0, 2.0], [2.0, 2.0, 2.0]]
    assert distributional_targets(OPS, rewards, terminals, support, 0.5).tolist() == expected
    quantiles = np.array([[-2.0, 0.0, 2.0], [np.inf, np.nan, 1.0]])
    assert distributional_targets(OPS, rewards, terminals, quantiles, 0.5).tolist() == expected
    discounts = np.array([0.25, 0.5])
    assert distributional_targets(OPS, rewards, terminals, support, discounts)[0].tolist() == [0.5, 1.0, 1.5]


def test_categorical_projection():
    # On atoms -1, 0, 1: 0.25 lies three quarters towards 0; 5 and -9 are outside.
    given = categorical_projection(
        OPS, np.array([0.25, 5.0, -9.0]), np.array([0.5, 0.25, 0.25]), -1.0, 1.0, 3
    )
    np.testing.assert_allclose(given, [0.25, 0.375, 0.125 + 0.25])


def test_atoms_on_the_support_stay():
    probabilities = np.array([[0.1, 0.2, 0.7]])
    given = categorical_projection(OPS, np.array([-1.0, 0.0, 1.0]), probabilities, -1.0, 1.0, 3)
    np.testing.assert_allclose(given, probabilities)


def test_categorical_projection_is_algorithm_1():
    """Bellemare et al. (2017), Algorithm 1, with its indices below and above."""
    rng = np.random.default_rng(0)
    low, high, atoms = -3.0, 5.0, 51
    probabilities, positions = rng.dirichlet(np.ones(20), 6), rng.normal(size=(6, 20)) * 4.0
    expected = np.zeros((6, atoms))
    for row in range(6):
        for p, z in zip(probabilities[row], positions[row], strict=True):
            b = (min(max(z, low), high) - low) / ((high - low) / (atoms - 1))
            below, above = int(np.floor(b)), int(np.ceil(b))
            if below == above:
                expected[row, below] += p
            else:
                expected[row, below] += p * (above - b)
                expected[row, above] += p * (b - below)
    given = categorical_projection(OPS, positions, probabilities, low, high, atoms)
    np.testing.assert_allclose(given, expected, atol=1e-12)
    np.testing.assert_allclose(given.sum(-1), 1.0)


def test_the_projection_keeps_the_mean_inside():
    rng = np.random.default_rng(1)
    probabilities, positions = rng.dirichlet(np.ones(20), 6), rng.uniform(-1.0, 2.0, (6, 20))
    given = categorical_projection(OPS, positions, probabilities, -1.0, 2.0, 7)
    np.testing.assert_allclose(categorical_means(OPS, given, -1.0, 2.0), (probabilities * positions).sum(-1))


def test_means():
    assert categorical_means(OPS, np.array([0.5, 0.0, 0.5]), 0.0, 4.0) == 2.0
    assert quantile_means(OPS, np.array([[1.0, 2.0, 6.0]])).tolist() == [3.0]


@pytest.mark.parametrize(
    ("number", "midpoints"), [(1, [0.5]), (2, [0.25, 0.75]), (4, [0.125, 0.375, 0.625, 0.875])]
)
def test_midpoints(number, midpoints):
    np.testing.assert_allclose(quantile_midpoints(OPS, number), midpoints)


def test_quantile_projection():
    # Sorted 1, 2, 3 with steps of the distribution at 0.25, 0.5, 1: midpoints 0.125, 0.375, 0.625, 0.875.
    positions, probabilities = np.array([3.0, 1.0, 2.0]), np.array([0.5, 0.25, 0.25])
    assert quantile_projection(OPS, positions, probabilities, 4).tolist() == [1.0, 2.0, 3.0, 3.0]
    # A midpoint on a step belongs to the atom below it: the smallest position whose probability reaches it.
    assert quantile_projection(OPS, positions, probabilities, 2).tolist() == [1.0, 3.0]


def test_quantile_projection_is_the_nearest():
    """No other positions of as many equally likely atoms are nearer in the 1-Wasserstein distance."""
    rng = np.random.default_rng(2)
    positions, probabilities = rng.normal(size=9), rng.dirichlet(np.ones(9))
    order = np.argsort(positions)
    grid = (np.arange(20000) + 0.5) / 20000
    steps = np.cumsum(probabilities[order])
    inverse = positions[order][np.minimum(np.searchsorted(steps, grid), 8)]

    def distance(atoms):
        return np.abs(inverse - np.sort(atoms)[(grid * len(atoms)).astype(int)]).mean()

    nearest = quantile_projection(OPS, positions, probabilities, 4)
    for _ in range(200):
        assert distance(nearest) <= distance(nearest + 0.3 * rng.normal(size=4)) + 1e-9


def test_quantile_huber_loss():
    # One quantile (0.5) at 0, targets 0.5 and -3: half of Huber 0.125 and 2.5, their mean.
    loss = quantile_huber_loss(OPS, np.array([[0.0]]), np.array([[0.5, -3.0]]))
    np.testing.assert_allclose(loss, [0.5 * (0.125 + 2.5) / 2])
    # Two quantiles (0.25, 0.75) at 0 and 1, target 2: errors 2 and 1, Huber 1.5 and 0.5.
    loss = quantile_huber_loss(OPS, np.array([[0.0, 1.0]]), np.array([[2.0]]))
    np.testing.assert_allclose(loss, [0.25 * 1.5 + 0.75 * 0.5])
    # Target -1: errors -1 and -2, weights 0.75 and 0.25.
    loss = quantile_huber_loss(OPS, np.array([[0.0, 1.0]]), np.array([[-1.0]]))
    np.testing.assert_allclose(loss, [0.75 * 0.5 + 0.25 * 1.5])
    # Huber with a delta of 0.5: 0.5 * (1 - 0.25) and 0.5 * (2 - 0.25).
    loss = quantile_huber_loss(OPS, np.array([[0.0, 1.0]]), np.array([[-1.0]]), 0.5)
    np.testing.assert_allclose(loss, [0.75 * 0.375 + 0.25 * 0.875])
    # Without a smooth part the sizes of the errors.
    loss = quantile_huber_loss(OPS, np.array([[0.0, 1.0]]), np.array([[-1.0]]), 0.0)
    np.testing.assert_allclose(loss, [0.75 * 1.0 + 0.25 * 2.0])


def test_the_loss_is_least_at_the_quantiles():
    """Dabney et al. (2018), lemma 2, on a thousand samples."""
    samples = np.random.default_rng(3).normal(size=1000)
    best = np.quantile(samples, [0.25, 0.75], method="inverted_cdf")
    least = quantile_huber_loss(OPS, best, samples, 0.0)
    for step in ([0.1, 0.0], [-0.1, 0.0], [0.0, 0.1], [0.0, -0.1]):
        assert quantile_huber_loss(OPS, best + step, samples, 0.0) > least
