"""What layers compute, on numbers worked out by hand."""

import numpy as np

from rlgraph.core.functional.activations import activation, crelu, leaky_relu
from rlgraph.core.functional.dropout import dropout
from rlgraph.core.functional.noisy_networks import factorised_noise
from rlgraph.core.functional.normalization import local_response_norm
from rlgraph.core.numpy.ops import NumpyOps

OPS = NumpyOps("float64")


def test_activations():
    x = np.array([[-2.0, 3.0]])
    assert crelu(OPS, x).tolist() == [[0.0, 3.0, 2.0, 0.0]]
    np.testing.assert_allclose(leaky_relu(OPS, x), [[-0.4, 3.0]])
    np.testing.assert_allclose(activation(OPS, "lrelu")(x), [[-0.4, 3.0]])


def test_an_operation_is_an_activation_without_anything_around_it():
    assert activation(OPS, "tanh") == OPS.tanh
    assert activation(OPS, "swish") == OPS.silu


def test_dropout():
    x, uniform = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.0, 0.19, 0.2, 0.99])
    np.testing.assert_allclose(dropout(OPS, x, uniform, 0.2), [0.0, 0.0, 3.75, 5.0])
    np.testing.assert_array_equal(dropout(OPS, x, np.zeros(4), 0.0), x)  # a draw may be 0


def test_factorised_noise():
    weights, biases = factorised_noise(OPS, np.array([4.0, -9.0, 0.0]), np.array([1.0, -16.0]))
    np.testing.assert_allclose(weights, [[2.0, -8.0], [-3.0, 12.0], [0.0, 0.0]])
    np.testing.assert_allclose(biases, [1.0, -4.0])


def test_local_response_norm():
    x = np.array([[1.0, 2.0, 3.0, 4.0]])
    sums = np.array([[1 + 4, 1 + 4 + 9, 4 + 9 + 16, 9 + 16]])
    given = local_response_norm(OPS, x, depth_radius=1, bias=2.0, alpha=0.5, beta=0.75)
    np.testing.assert_allclose(given, x / (2.0 + 0.5 * sums) ** 0.75)
