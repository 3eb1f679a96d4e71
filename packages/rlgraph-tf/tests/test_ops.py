"""Operations against NumPy at special places, with fixed and with open sizes."""

import inspect

import numpy as np
import pytest
import tensorflow as tf

from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.core.ops import OPERATIONS
from rlgraph.tf.ops import TfOps

X = np.array([[-2.0, -0.5, 0.25], [1.5, 1.5, -1.0]])
Y = np.array([[0.5, -0.5, 2.0], [3.0, 1.5, -4.0]])
B = np.array([[True, False, True], [True, True, True]])
I = np.array([[3, -1, 4], [1, 5, 9]])  # noqa: E741
BIG = np.array([[1000.0, 1001.0, 999.0], [-1000.0, -1000.5, -1000.0]])
CUBE = np.arange(24.0).reshape(2, 3, 4) % 7 - 3

#: Operation -> calls: (positional arguments, named arguments).
CASES = {
    "logical_and": [((B, ~B), {})],
    "logical_or": [((B, ~B), {})],
    "logical_not": [((B,), {})],
    "exp": [((X,), {})],
    "log": [((np.abs(X),), {})],
    "sqrt": [((np.abs(X),), {})],
    "square": [((X,), {}), ((I,), {})],
    "abs": [((X,), {}), ((I,), {})],
    "tanh": [((X,), {})],
    "sigmoid": [((X,), {}), ((BIG,), {})],
    "isfinite": [((np.array([[1.0, np.inf], [np.nan, -np.inf]]),), {})],
    "maximum": [((X, Y), {}), ((X, 0.0), {}), ((1, X), {}), ((I, 3), {}), ((X, Y[:1]), {})],
    "minimum": [((X, Y), {}), ((X, 0.0), {}), ((1, X), {}), ((I, 3), {}), ((X, Y[:1]), {})],
    "clip": [((X, -1.0, 1.0), {}), ((X, 0, 1), {}), ((I,), {"low": 2, "high": 4})],
    "where": [((B, X, Y), {}), ((B, X, 0.0), {}), ((B, 0, X), {}), ((B, 0, I), {}), ((B, X[:1], Y), {})],
    "astype": [
        ((X, "int32"), {}),
        ((I, "float"), {}),
        ((B, "float"), {}),
        ((X, "bool"), {}),
        ((X, "float64"), {}),
    ],
    "stop_gradient": [((X,), {})],
    "mean": [((X,), {}), ((X, 1), {}), ((CUBE,), {"axis": (0, -1)}), ((X,), {"axis": -1, "keepdims": True})],
    "sum": [((X,), {}), ((I, 0), {}), ((CUBE,), {"axis": (0, -1)}), ((X,), {"keepdims": True})],
    "max": [((X,), {}), ((I, 0), {}), ((CUBE,), {"axis": (0, -1)}), ((X,), {"axis": -1, "keepdims": True})],
    "min": [((X,), {}), ((I, 0), {}), ((CUBE,), {"axis": (0, -1)}), ((X,), {"axis": -1, "keepdims": True})],
    "all": [((B,), {}), ((B, 1), {}), ((B,), {"axis": 0, "keepdims": True})],
    "argmax": [((X, 1), {}), ((I, 0), {}), ((CUBE,), {"axis": -2})],
    "softmax": [((X,), {}), ((BIG,), {"axis": -1}), ((X, 0), {})],
    "log_softmax": [((X,), {}), ((BIG,), {"axis": -1}), ((X, 0), {})],
    "matmul": [((X, Y.T), {}), ((CUBE, CUBE[0].T), {})],
    "linear": [((X, Y.T), {}), ((X, Y.T, np.array([0.5, -0.5])), {})],
    "take": [
        ((X, np.array([1, 0, 1])), {}),
        ((X, np.array([[2], [0]])), {"axis": 1}),
        ((CUBE, np.array([2, 2], np.int32)), {"axis": -2}),
        ((CUBE, np.array(1)), {}),
    ],
    "take_along_axis": [
        ((X, np.array([[2], [0]])), {"axis": 1}),
        ((X, np.array([[2, 2, 1, 0], [0, 1, 0, 2]], np.int32)), {}),
        ((X, np.array([[1, 0, 1]])), {"axis": 0}),
        ((CUBE, CUBE[:, :1].astype(np.int64) % 3), {"axis": -2}),
    ],
    "one_hot": [
        ((np.array([[2, 0]]), 3), {}),
        ((np.array([1], np.int32), 2), {"dtype": "int32"}),
        ((np.array([1, 0]), 2), {"dtype": "bool"}),
    ],
    "reshape": [((CUBE, (2, 12)), {}), ((CUBE, (-1, 4)), {}), ((X, [6]), {})],
    "expand_dims": [((X, 1), {}), ((X,), {"axis": -1})],
    "squeeze": [((X[:, :1], 1), {}), ((X[:, None],), {"axis": -2})],
    "permute_dims": [((CUBE, (2, 0, 1)), {}), ((CUBE, (0, -1, 1)), {})],
    "broadcast_to": [((X[:, :1], (2, 5)), {}), ((np.array(2.0), (2, 2)), {})],
    "concat": [(([X, Y],), {}), (((X, Y, X), 1), {}), (([X, Y],), {"axis": -1})],
    "stack": [(([X, Y],), {}), (((X, Y), 1), {}), (([X, Y],), {"axis": -1})],
    "zeros": [(((2, 3),), {}), (((2,), "int64"), {})],
    "ones": [(((2, 3),), {}), (((),), {"dtype": "bool"})],
    "zeros_like": [((X,), {}), ((B,), {})],
    "ones_like": [((X,), {}), ((I,), {})],
    "relu": [((X,), {})],
    "elu": [((X,), {})],
    "softplus": [((X,), {}), ((BIG,), {})],
}


def trace(function, arrays, *, open_sizes):
    """`function` of tensors, run on `arrays` as a traced program."""
    specs = [tf.TensorSpec([None] * a.ndim if open_sizes else a.shape, a.dtype) for a in arrays]
    return (
        tf.function(function, autograph=False)
        .get_concrete_function(*specs)(*map(tf.constant, arrays))
        .numpy()
    )


def in_float(value, dtype):
    """`value` with its floating arrays in `dtype`."""
    if isinstance(value, list | tuple):
        return type(value)(in_float(item, dtype) for item in value)
    return value.astype(dtype) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value


def call(ops, name, args, kwargs):
    """The operation by NumPy, and as a traced program with fixed and with open sizes."""
    arrays = [
        a
        for arg in args
        for a in (arg if isinstance(arg, list | tuple) else [arg])
        if isinstance(a, np.ndarray)
    ]

    def run(*tensors):
        left = iter(tensors)

        def swap(arg):
            if isinstance(arg, list | tuple):
                return type(arg)(swap(item) for item in arg)
            return next(left) if isinstance(arg, np.ndarray) else arg

        return getattr(ops, name)(*map(swap, args), **kwargs)

    return [trace(run, arrays, open_sizes=open_sizes) for open_sizes in (False, True)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("name", "number"), [(n, i) for n, calls in CASES.items() for i in range(len(calls))]
)
def test_operation(name, number, dtype):
    args, kwargs = in_float(CASES[name][number][0], dtype), CASES[name][number][1]
    expected = getattr(NumpyOps(dtype), name)(*args, **kwargs)
    for given in call(TfOps(dtype), name, args, kwargs):
        assert np.asarray(given).dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(given, expected, rtol=1e-5 if dtype == "float32" else 1e-12, atol=1e-12)


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_signature(name):
    given = inspect.signature(getattr(TfOps(), name)).parameters.values()
    declared = OPERATIONS[name].signature.parameters.values()
    assert [(p.name, p.default, p.kind) for p in given] == [(p.name, p.default, p.kind) for p in declared]


def test_the_first_of_equal_maxima():
    x = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])
    for given in call(TfOps(), "argmax", (x,), {"axis": 1}):
        np.testing.assert_array_equal(given, [1, 0])


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64"])
def test_sum_keeps_the_dtype(dtype):
    for given in call(TfOps(), "sum", (np.full((2, 2), 90, dtype),), {}):
        np.testing.assert_array_equal(given, np.full(4, 90, dtype).sum(dtype=dtype))
        assert given.dtype == dtype


def test_shape_is_fixed_where_it_can_be():
    shapes = {}

    def look(x):
        shapes["open"] = TfOps.shape(x)
        return TfOps.reshape(x, (TfOps.shape(x)[0] * 2, 2))

    spec = tf.TensorSpec([None, 4], tf.float32)
    function = tf.function(look, autograph=False).get_concrete_function(spec)
    assert shapes["open"][1] == 4 and isinstance(shapes["open"][0], tf.Tensor)
    assert function.structured_outputs.shape.as_list() == [None, 2]
    assert function(tf.zeros((3, 4))).shape == (6, 2)


@pytest.mark.parametrize("sizes", [(0, 2), (2, 3)])
def test_open_sizes_in_shapes(sizes):
    """Sizes of one tensor shape another one; also where the batch is empty."""

    def spread(x):
        rows, columns = TfOps.shape(x)
        both = TfOps().zeros((rows, columns)) + TfOps().ones((rows, 1))
        return TfOps.reshape(
            TfOps.broadcast_to(TfOps.expand_dims(both, 0), (2, rows, columns)), (rows, 2, columns)
        )

    given = trace(spread, [np.zeros(sizes, np.float32)], open_sizes=True)
    np.testing.assert_array_equal(given, np.ones((sizes[0], 2, sizes[1])))


def test_products_of_nothing_have_their_biases():
    linear = tf.function(TfOps.linear, autograph=False)
    assert (
        linear(tf.zeros([3, 0]), tf.zeros([0, 2]), tf.constant([1.0, 2.0])).numpy().tolist()
        == [[1.0, 2.0]] * 3
    )


@pytest.mark.parametrize("count", [0, 2])
@pytest.mark.parametrize(
    ("name", "options", "shape"),
    [
        ("conv2d", {"filters": np.ones((2, 3, 2, 5), np.float32)}, (2, 2, 5)),
        ("conv2d_transpose", {"filters": np.ones((2, 3, 5, 2), np.float32)}, (4, 6, 5)),
        ("max_pool2d", {"size": (2, 3), "strides": 1}, (2, 2, 2)),
        ("avg_pool2d", {"size": (2, 3), "strides": 1}, (2, 2, 2)),
    ],
)
def test_images_and_their_derivatives_where_there_is_none(name, options, shape, count):
    """oneDNN, where TensorFlow uses it, has other shapes for no image, or ends the process."""

    def run(images, *others):
        with tf.GradientTape() as tape:
            tape.watch((images, *others))
            made = getattr(TfOps("float32"), name)(images, *others, **of_pools)
        return made, tape.gradient(made, (images, *others))

    others = [tf.constant(options["filters"])] if "filters" in options else []
    of_pools = {} if others else options
    images = tf.ones((count, 3, 4, 2))
    unknown = tf.TensorSpec((None, 3, 4, 2))
    specs = [unknown, *(tf.TensorSpec(other.shape) for other in others)]
    for function in (run, tf.function(run, input_signature=specs)):
        made, derivatives = function(images, *others)
        assert made.shape == (count, *shape)
        assert [each.shape for each in derivatives] == [images.shape, *(other.shape for other in others)]
        if count == 0:
            assert all(not np.any(each) for each in derivatives[1:])
