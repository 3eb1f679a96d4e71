"""The formulas of the papers, on numbers worked out by hand."""

import math

import numpy as np

from rlgraph.core.functional.soft_actor_critic import (
    discrete_sac_actor_loss,
    discrete_sac_alpha_loss,
    discrete_soft_value,
    sac_actor_loss,
    sac_alpha_loss,
    sac_critic_loss,
    sac_target,
    soft_value,
)
from rlgraph.core.numpy.ops import NumpyOps

OPS = NumpyOps("float64")
LN2, ALPHA = math.log(2.0), np.array(0.5)
#: Two states, two actions: an even policy, and one of 1/4 and 3/4.
PROBABILITIES = np.array([[0.5, 0.5], [0.25, 0.75]])


def test_soft_values():
    # min 1 and 2; -alpha log pi = 0.5 ln 2 and ln 2.
    values = soft_value(OPS, [np.array([1.0, 3.0]), np.array([4.0, 2.0])], np.log([0.5, 0.25]), ALPHA)
    np.testing.assert_allclose(values, [1.0 + 0.5 * LN2, 2.0 + LN2])


def test_discrete_soft_values_are_expectations():
    q_values = [np.array([[1.0, 3.0], [4.0, 8.0]]), np.array([[2.0, 2.0], [8.0, 4.0]])]
    entropies = [LN2, 0.25 * math.log(4.0) + 0.75 * math.log(4.0 / 3.0)]
    # Smallest values 1, 2 and 4, 4.
    expected = [1.5 + 0.5 * entropies[0], 4.0 + 0.5 * entropies[1]]
    values = discrete_soft_value(OPS, q_values, np.log(PROBABILITIES), ALPHA)
    np.testing.assert_allclose(values, expected)
    losses = discrete_sac_actor_loss(OPS, q_values, np.log(PROBABILITIES), ALPHA)
    np.testing.assert_allclose(losses, -np.array(expected))


def test_target():
    target = sac_target(OPS, np.array([1.0, 2.0]), np.array([False, True]), np.array([4.0, np.inf]), 0.5)
    assert target.tolist() == [3.0, 2.0]


def test_critic_loss_is_half_the_square_of_each():
    critics = [np.array([1.0, 2.0]), np.array([3.0, -1.0])]
    assert sac_critic_loss(OPS, critics, np.array([1.0, 0.0])).tolist() == [0.0 + 2.0, 2.0 + 0.5]


def test_actor_loss():
    losses = sac_actor_loss(OPS, [np.array([1.0, 3.0]), np.array([4.0, 2.0])], np.log([0.5, 0.25]), ALPHA)
    np.testing.assert_allclose(losses, [-0.5 * LN2 - 1.0, -LN2 - 2.0])


def test_alpha_falls_where_there_is_entropy_enough():
    """Gradient descent on ``-alpha (log pi + H)``: the derivative is minus what the entropy lacks."""
    # The sampled entropies are ln 2 and ln 4, the target 1: too little, and enough.
    losses = sac_alpha_loss(OPS, ALPHA, np.log([0.5, 0.25]), 1.0)
    np.testing.assert_allclose(losses, [-0.5 * (1.0 - LN2), -0.5 * (1.0 - 2.0 * LN2)])
    assert losses[0] < 0.0 < losses[1]


def test_discrete_alpha_loss():
    losses = discrete_sac_alpha_loss(OPS, ALPHA, np.log(PROBABILITIES), 1.0)
    entropies = [LN2, 0.25 * math.log(4.0) + 0.75 * math.log(4.0 / 3.0)]
    np.testing.assert_allclose(losses, [-0.5 * (1.0 - entropies[0]), -0.5 * (1.0 - entropies[1])])
