"""What the NumPy backend computes itself, against loops over numbers."""

import inspect
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
        ("sign", lambda v: math.copysign(1.0, v) if v else 0.0),
        ("floor", math.floor),
        ("ceil", math.ceil),
        ("round", round),
        ("trunc", math.trunc),
        ("expm1", math.expm1),
        ("sin", math.sin),
        ("cos", math.cos),
        ("tan", math.tan),
        ("atan", math.atan),
        ("sinh", math.sinh),
        ("cosh", math.cosh),
        ("asinh", math.asinh),
        ("erf", math.erf),
        ("gelu", lambda v: v * 0.5 * math.erfc(-v / math.sqrt(2.0))),
        ("silu", lambda v: v / (1.0 + math.exp(-v))),
        ("selu", lambda v: 1.05070098735548 * (v if v > 0 else 1.67326324235437 * (math.exp(v) - 1.0))),
        ("leaky_relu", lambda v: v if v > 0 else 0.01 * v),
        ("softsign", lambda v: v / (1.0 + abs(v))),
        ("log_sigmoid", lambda v: -math.log(1.0 + math.exp(-v))),
        ("isnan", math.isnan),
        ("isinf", math.isinf),
    ],
)
def test_elementwise(name, function):
    np.testing.assert_allclose(getattr(OPS, name)(X), each(function, X), rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize(
    ("name", "function", "values"),
    [
        ("asin", math.asin, [-1.0, -0.3, 0.0, 0.99]),
        ("acos", math.acos, [-1.0, -0.3, 0.0, 0.99]),
        ("atanh", math.atanh, [-0.99, 0.0, 0.5]),
        ("acosh", math.acosh, [1.0, 1.5, 40.0]),
        ("log1p", math.log1p, [-0.5, 1e-12, 3.0]),
        ("reciprocal", lambda v: 1.0 / v, [-4.0, 0.5]),
        ("lgamma", math.lgamma, [1e-3, 0.5, 1.0, 2.5, 1000.0, -0.5]),
        ("round", round, [-2.5, -1.5, 0.5, 1.5, 2.4999]),
    ],
)
def test_elementwise_in_the_domain(name, function, values):
    values = np.array(values)
    np.testing.assert_allclose(getattr(OPS, name)(values), each(function, values), rtol=1e-14, atol=1e-15)


def test_elementwise_of_two():
    x, y = np.array([-2.0, 0.0, 3.0, -1e-3]), np.array([0.5, -1.0, 800.0, -2.0])
    np.testing.assert_allclose(OPS.atan2(x, y), list(map(math.atan2, x, y)), rtol=1e-15)
    expected = [max(a, b) + math.log1p(math.exp(-abs(a - b))) for a, b in zip(x, y, strict=True)]
    np.testing.assert_allclose(OPS.logaddexp(x, y), expected, rtol=1e-14)
    both = OPS.logical_xor(np.array([True, True, False, False]), np.array([True, False, True, False]))
    assert both.tolist() == [False, True, True, False]


def test_digamma():
    """At whole numbers and their halves it is a sum of reciprocals: Abramowitz and Stegun, 6.3.2 to 6.3.4."""
    euler = 0.57721566490153286
    whole = [sum(1 / k for k in range(1, n)) - euler for n in (1, 2, 5, 10, 30)]
    np.testing.assert_allclose(OPS.digamma(np.array([1.0, 2, 5, 10, 30])), whole, rtol=0, atol=4e-15)
    halves = [2 * sum(1 / (2 * k - 1) for k in range(1, n + 1)) - euler - 2 * math.log(2) for n in (0, 1, 7)]
    np.testing.assert_allclose(OPS.digamma(np.array([0.5, 1.5, 7.5])), halves, rtol=0, atol=4e-15)
    assert OPS.digamma(np.float32([3.0])).dtype == np.float32
    x = np.array([1e-6, 0.3, 4.2])  # it is the derivative of lgamma
    h = 1e-5 * x
    slope = (OPS.lgamma(x + h) - OPS.lgamma(x - h)) / (2 * h)
    np.testing.assert_allclose(OPS.digamma(x), slope, rtol=1e-6)


def test_special_functions_keep_dtype_and_shape():
    for function in (OPS.erf, OPS.lgamma, OPS.digamma):
        for shape in ((), (0,), (2, 3)):
            result = function(np.ones(shape, np.float32))
            assert (result.shape, result.dtype) == (shape, np.float32)
    assert OPS.lgamma(np.array([0.0, -3.0])).tolist() == [math.inf, math.inf]


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
    np.testing.assert_array_equal(OPS.take_along_axis(x, np.array([[2, 0], [1, 1]])), [[2, 0], [4, 4]])
    np.testing.assert_array_equal(OPS.take_along_axis(x, np.array([[1, 0, 1]]), axis=0), [[3, 1, 5]])
    assert OPS.take_along_axis(x[:0], np.zeros((0, 1), np.int64)).shape == (0, 1)
    with pytest.raises(IndexError):
        OPS.take_along_axis(x, np.array([[3], [0]]))
    assert OPS.take(x, np.zeros(0, np.int64)).shape == (0, 3)
    with pytest.raises(IndexError, match=r"ops\.take: expected indices >= 0, given -2"):
        OPS.take(x, np.array([1, -2]))
    with pytest.raises(IndexError, match=r"ops\.take_along_axis: expected indices >= 0, given -1"):
        OPS.take_along_axis(x, np.array([[2], [-1]]), axis=1)
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


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_options_have_the_names_of_the_contract(name):
    parameters = OPERATIONS[name].signature.parameters.values()
    tensors = ("TensorSpec", "Operand")
    options = [p for p in parameters if not any(kind in p.annotation for kind in tensors)]
    if options:
        ours = inspect.signature(getattr(OPS, name)).parameters
        assert {p.name for p in options} <= set(ours)
        for option in options:
            if option.default is not option.empty and not name.startswith(("zeros", "ones")):
                assert ours[option.name].default == option.default, option


def test_every_operation_is_there():
    for name in OPERATIONS:
        assert callable(getattr(OPS, name)), name
    assert OPS.shape(X) == (2, 4)
