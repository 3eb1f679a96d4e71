"""The intrinsic curiosity module's formulas, with numbers by hand."""

import numpy as np

from rlgraph.core.functional.curiosity import inverse_and_forward_loss, prediction_error
from rlgraph.core.numpy.ops import NumpyOps

OPS = NumpyOps()


def test_half_the_squared_distance():
    predictions, features = np.array([[[1.0, 2.0], [0.0, 0.0]]]), np.array([[[4.0, -2.0], [0.0, 0.0]]])
    np.testing.assert_allclose(prediction_error(OPS, predictions, features), [[12.5, 0.0]])


def test_beta_weighs_the_forward_model():
    inverse, forward = np.array([1.0, 2.0]), np.array([10.0, 20.0])
    np.testing.assert_allclose(inverse_and_forward_loss(OPS, inverse, forward, 0.2), [2.8, 5.6])
    np.testing.assert_allclose(inverse_and_forward_loss(OPS, inverse, forward, 0.0), inverse)
