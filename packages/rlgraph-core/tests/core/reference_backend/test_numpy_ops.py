"""What the NumPy backend computes itself, against loops over numbers."""

import math

import numpy as np
import pytest

from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.core.ops import OPERATIONS

OPS = NumpyOps("float64")
X = np.array([[-30.0, -1.5, -0.25, 0.0], [0.25, 1.0, 2.5, 30.0]])


def each(function, x):
    return np.array([function(value) for value in x.reshape(-1).tolist()]).reshape(x.shape)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("sigmoid", lambda v: 1.0 / (1.0 + math.exp(-v))),
        ("relu", lambda v: v if v > 0 else 0.0),
        ("elu", lambda v: v if v > 0 else math.exp(v) - 1.0),
        ("softplus", lambda v: math.log(1.0 + math.exp(v))),
        ("tanh", math.tanh),
        ("exp", math.exp),
        ("square", lambda v: v * v),
        ("abs", abs),
        ("stop_gradient", lambda v: v),
        ("zeros_like", lambda v: 0.0),
        ("ones_like", lambda v: 1.0),
    ],
)
def test_elementwise(name, function):
    np.testing.assert_allclose(getattr(OPS, name)(X), each(function, X), rtol=1e-9, atol=1e-13)


def test_softmax_of_large_numbers():
    x = np.array([[1000.0, 1001.0, 999.0], [-1000.0, -1001.0, -1000.0]])
    exact = [[math.exp(v - max(row)) for v in row] for row in x.tolist()]
    exact = np.array([[v / sum(row) for v in row] for row in exact])
    np.testing.assert_allclose(OPS.softmax(x), exact, rtol=1e-12)
    np.testing.assert_allclose(OPS.log_softmax(x), np.log(exact), rtol=1e-12)
    np.testing.assert_allclose(OPS.softmax(x.T, axis=0), exact.T, rtol=1e-12)
    np.testing.assert_allclose(OPS.log_softmax(x.T, axis=0), np.log(exact).T, rtol=1e-12)


def test_linear():
    x, weights, biases = (
        np.array([[1.0, 2.0]]),
        np.array([[3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]),
        np.array([0.5, 0.0, -1.0]),
    )
    np.testing.assert_array_equal(OPS.linear(x, weights), [[15.0, 18.0, 21.0]])
    np.testing.assert_array_equal(OPS.linear(x, weights, biases), [[15.5, 18.0, 20.0]])


def test_picking():
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(OPS.take(x, np.array([1, 0, 1])), [[3, 4, 5], [0, 1, 2], [3, 4, 5]])
    np.testing.assert_array_equal(OPS.take(x, np.array([2, 0]), axis=1), [[2, 0], [5, 3]])
    np.testing.assert_array_equal(OPS.take_along_axis(x, np.array([[2], [1]]), axis=1), [[2], [4]])
    np.testing.assert_array_equal(OPS.one_hot(np.array([2, 0]), 3), [[0, 0, 1], [1, 0, 0]])
    assert OPS.one_hot(np.array([0]), 2).dtype == np.float64
    assert OPS.one_hot(np.array([0]), 2, "int32").dtype == np.int32


def test_the_first_of_equal_maxima():
    np.testing.assert_array_equal(OPS.argmax(np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]), axis=1), [1, 0])


def test_sum_keeps_the_dtype():
    assert OPS.sum(np.ones(3, np.int32)).dtype == np.int32
    assert OPS.sum(np.full(4, 200, np.uint8)).dtype == np.uint8


def test_variables_are_written_in_place():
    buffer = np.zeros(4, np.float32)
    variable = buffer[1:3]
    before = OPS.read(variable)
    OPS.assign(variable, np.array([1.0, 2.0], np.float32))
    OPS.assign_add(variable, 0.5)
    np.testing.assert_array_equal(buffer, [0.0, 1.5, 2.5, 0.0])
    np.testing.assert_array_equal(before, [0.0, 0.0])
    OPS.assign(variable, 7.0)
    np.testing.assert_array_equal(buffer, [0.0, 7.0, 7.0, 0.0])


def test_every_operation_is_there():
    for name in OPERATIONS:
        assert callable(getattr(OPS, name)), name
    assert OPS.shape(X) == (2, 4)
