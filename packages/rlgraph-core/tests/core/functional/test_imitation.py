"""The large margin of DQfD, on numbers worked out by hand."""

import numpy as np

from rlgraph.core.functional.imitation import large_margin_loss
from rlgraph.core.numpy.ops import NumpyOps

OPS = NumpyOps("float64")


def test_large_margin():
    q_values = np.array([[1.0, 2.0, 0.0], [5.0, 2.0, 0.0], [1.0, 1.0, 1.0], [1.0, 1.5, 0.0]])
    losses = large_margin_loss(OPS, q_values, np.array([0, 0, 2, 1]), 0.8)
    # 2.8 - 1; the expert is better by more than the margin; 1.8 - 1; better by 0.5: 1.8 - 1.5.
    np.testing.assert_allclose(losses, [1.8, 0.0, 0.8, 0.3])


def test_it_is_never_negative():
    rng = np.random.default_rng(0)
    losses = large_margin_loss(OPS, rng.normal(size=(50, 4)), rng.integers(0, 4, 50), 0.5)
    assert (losses >= 0.0).all()


def test_margins_of_items_and_elements():
    q_values = np.array([[[1.0, 0.0], [0.0, 3.0]], [[0.0, 0.0], [2.0, 2.0]]])
    actions = np.array([[0, 1], [1, 0]])
    losses = large_margin_loss(OPS, q_values, actions, np.array([[2.0], [0.5]]))
    assert losses.tolist() == [[1.0, 0.0], [0.5, 0.5]]
