import numpy as np

from rlgraph.core.functional.optimization import rmsprop
from rlgraph.core.numpy.ops import NumpyOps

OPS = NumpyOps("float64")


def test_a_variance_that_rounding_makes_negative():
    """A gradient that never changes has the variance 0; a mean square that is a bit too small makes no NaN of it."""
    gradient = np.array([0.1])
    mean_square = 0.01 * (1.0 - 1e-9)
    variable, _, _, _ = rmsprop(OPS, np.zeros(1), gradient, mean_square, 0.1, None, 1.0, 0.9, 1e-2)
    np.testing.assert_allclose(variable, [-10.0])
