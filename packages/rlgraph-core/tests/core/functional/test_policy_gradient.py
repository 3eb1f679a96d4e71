"""The formulas of the papers, on numbers worked out by hand."""

import math

import numpy as np
import pytest

from rlgraph.core.functional.policy_gradient import (
    divergence_estimate,
    entropy_loss,
    policy_gradient_loss,
    ppo_clipped_surrogate,
    ppo_clipped_value_loss,
    sum_of_parts,
    value_loss,
)
from rlgraph.core.numpy.ops import NumpyOps

OPS = NumpyOps("float64")


def test_log_probabilities_of_independent_parts_add_up():
    """The probability of all is the product."""
    coin, dice = np.array([0.5, 0.25]), np.array([[0.1, 0.2], [0.3, 0.4]])
    joint = sum_of_parts(OPS, [np.log(coin), np.log(dice)], 1)
    np.testing.assert_allclose(np.exp(joint), [0.5 * 0.1 * 0.2, 0.25 * 0.3 * 0.4])
    steps = np.arange(24.0).reshape(2, 3, 4)
    assert sum_of_parts(OPS, [steps, np.ones((2, 3))], 2).tolist() == [[7.0, 23.0, 39.0], [55.0, 71.0, 87.0]]


def test_policy_gradient():
    losses = policy_gradient_loss(OPS, np.log([0.5, 0.25]), np.array([2.0, -1.0]))
    np.testing.assert_allclose(losses, [2.0 * math.log(2.0), -math.log(4.0)])


def test_entropy_is_rewarded():
    assert entropy_loss(OPS, np.array([0.0, 2.0]), 0.5).tolist() == [0.0, -1.0]


@pytest.mark.parametrize(
    ("ratio", "advantage", "loss"),
    [  # figure 1 of the paper, with clip_ratio 0.2: the objective is flat above 1.2 if A > 0, below 0.8 if A < 0
        (1.0, 2.0, -2.0),
        (1.1, 2.0, -2.2),
        (1.5, 2.0, -2.4),
        (0.5, 2.0, -1.0),
        (1.0, -2.0, 2.0),
        (0.9, -2.0, 1.8),
        (0.5, -2.0, 1.6),
        (1.5, -2.0, 3.0),
    ],
)
def test_clipped_surrogate(ratio, advantage, loss):
    old = math.log(0.25)
    given = ppo_clipped_surrogate(
        OPS, np.array([old + math.log(ratio)]), np.array([old]), np.array([advantage]), 0.2
    )
    np.testing.assert_allclose(given, [loss])


def test_value_losses():
    values, targets = np.array([1.0, 1.0, 3.0, -3.0]), np.array([2.0, 0.0, 5.0, 0.0])
    assert value_loss(OPS, values, targets).tolist() == [1.0, 1.0, 4.0, 9.0]
    # Old values 0, limit 0.5: the values become 0.5, 0.5, 0.5, -0.5; the larger loss counts.
    clipped = ppo_clipped_value_loss(OPS, values, np.zeros(4), targets, 0.5)
    assert clipped.tolist() == [1.5**2, 1.0, 4.5**2, 9.0]


def test_the_estimate_of_the_divergence():
    """Its mean is that of KL(old || new): of two actions with probabilities 0.5, which become 0.8 and 0.2."""
    given = divergence_estimate(OPS, np.log([0.8, 0.2]), np.log([0.5, 0.5]))
    np.testing.assert_allclose(given, [0.6 - math.log(1.6), -0.6 - math.log(0.4)])
    np.testing.assert_allclose(given.mean(), 0.5 * math.log(0.5 / 0.8) + 0.5 * math.log(0.5 / 0.2))
