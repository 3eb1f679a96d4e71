"""The formulas of the paper, on numbers worked out by hand."""

import numpy as np

from rlgraph.core.functional.td3 import (
    clipped_double_q,
    critic_loss,
    deterministic_policy_gradient_loss,
    smoothed_actions,
    td3_target,
)
from rlgraph.core.numpy.ops import NumpyOps

OPS = NumpyOps("float64")


def test_smoothing_is_clipped_twice():
    actions, noise = np.array([[0.0, 0.9], [0.0, -0.4]]), np.array([[0.2, 0.3], [-2.0, -2.0]])
    # Noise up to 0.5; the second element of an action lies in [-0.5, 1].
    given = smoothed_actions(OPS, actions, noise, 0.5, np.array([-1.0, -0.5]), 1.0)
    np.testing.assert_allclose(given, [[0.2, 1.0], [-0.5, -0.5]])


def test_the_smallest_critic_counts():
    three = [np.array([1.0, 5.0]), np.array([2.0, 3.0]), np.array([0.5, 4.0])]
    assert clipped_double_q(OPS, three).tolist() == [0.5, 3.0]
    assert clipped_double_q(OPS, three[:1]).tolist() == [1.0, 5.0]


def test_target():
    target = td3_target(
        OPS,
        np.array([1.0, 1.0]),
        np.array([False, True]),
        [np.array([4.0, np.nan]), np.array([2.0, 0.0])],
        0.5,
    )
    assert target.tolist() == [1.0 + 0.5 * 2.0, 1.0]


def test_losses():
    targets = np.array([1.0, 0.0])
    critics = [np.array([1.0, 2.0]), np.array([3.0, -1.0])]
    assert critic_loss(OPS, critics, targets).tolist() == [0.0 + 4.0, 4.0 + 1.0]
    assert critic_loss(OPS, critics[:1], targets).tolist() == [0.0, 4.0]
    assert deterministic_policy_gradient_loss(OPS, np.array([2.0, -1.0])).tolist() == [-2.0, 1.0]
