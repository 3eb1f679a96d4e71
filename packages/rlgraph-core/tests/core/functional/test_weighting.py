import numpy as np

from rlgraph.core.functional.weighting import number_of_items, weighted_mean, without_garbage
from rlgraph.core.numpy.ops import NumpyOps

OPS = NumpyOps("float64")


def test_importance_weights_multiply_the_losses():
    """The mean is that over the items, not over the weights."""
    assert weighted_mean(OPS, np.array([1.0, 3.0]), np.array([0.5, 0.5])) == 1.0
    assert weighted_mean(OPS, np.array([1.0, 3.0])) == 2.0


def test_items_of_weight_zero_do_not_count():
    losses = np.array([[1.0, np.nan], [3.0, np.inf]])
    assert weighted_mean(OPS, losses, np.array([[1.0, 0.0], [0.5, 0.0]])) == 1.25
    assert weighted_mean(OPS, losses, np.array([[True, False], [True, False]])) == 2.0
    assert weighted_mean(OPS, losses, np.zeros((2, 2))) == 0.0
    assert [number_of_items(OPS, weights) for weights in (np.array([2.0, 0.0, 0.1]), np.zeros(3))] == [
        2.0,
        1.0,
    ]


def test_without_garbage():
    values, weights = np.array([[1, 2], [7, 8]]), np.array([0.5, 0.0])
    assert without_garbage(OPS, values, weights).tolist() == [[1, 2], [0, 0]]
    assert without_garbage(OPS, np.array([np.nan, 3.0]), np.array([False, True])).tolist() == [0.0, 3.0]
