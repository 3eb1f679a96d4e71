"""Operations against the reference on NumPy at special places: ties, empty and scalar tensors, options by position."""

import inspect

import numpy as np
import pytest
import torch

from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.core.ops import OPERATIONS
from rlgraph.torch.ops import TorchOps
from rlgraph.torch.random import DRAWS, SEQUENTIAL

RNG = np.random.default_rng(0)
F = RNG.normal(size=(3, 4, 2)).astype(np.float32)
G = RNG.normal(size=(4, 1)).astype(np.float32)
D = RNG.normal(size=(3, 4)) * 3
INT = RNG.integers(-4, 5, (3, 4))
J = RNG.integers(1, 4, (4,)).astype(np.int32)
S = np.array(0.5, np.float32)
U = RNG.integers(0, 200, (2, 3)).astype(np.uint8)
M, N = RNG.random((3, 4)) < 0.5, RNG.random((1, 4)) < 0.5
TIES = np.float32([[1, 3, 3], [2, 2, 2], [-1, -1, 0]])
BIG = np.float32([[1000, 1001, 999], [-1000, 0, 1000]])


def unary(*arrays):
    return [((array,), {}) for array in arrays]


def reductions(*arrays):
    axes = [None, 0, -1, (0,), (0, 1)]
    return [
        ((array,), {"axis": axis, "keepdims": keep})
        for array in arrays
        for axis in axes
        for keep in (False, True)
    ] + [
        ((arrays[0],), {}),
        ((arrays[0], 1), {}),
        ((arrays[0], 1, True), {}),
        ((S,), {}),
    ]


CASES = {
    "abs": unary(F, D, INT, S),
    "all": [
        ((M,), options) for options in ({}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"keepdims": True})
    ]
    + [((M,), {"axis": (0, 1), "keepdims": keep}) for keep in (False, True)]
    + [((np.ones((2, 3), bool),), {}), ((M, 1), {})],
    "argmax": [((TIES,), {"axis": 1}), ((TIES,), {"axis": 0}), ((INT,), {"axis": -1}), ((F, 1), {})],
    "astype": [
        ((array, dtype), {})
        for array in (F, D, INT, J, M, U)
        for dtype in ("float32", "float64", "int32", "int64", "bool", "float")
    ]
    + [((INT,), {"dtype": "float"})],
    "broadcast_to": [((G, (3, 4, 2)), {}), ((S,), {"shape": (2, 2)}), ((INT, (2, 3, 4)), {})],
    "clip": [
        ((F, -0.5, 0.5), {}),
        ((INT, -1, 2), {}),
        ((D,), {"low": -1.0, "high": 1.0}),
        ((S, 0, 0.25), {}),
    ],
    "concat": [
        (([F, F * 2], 0), {}),
        (([INT, INT], -1), {}),
        (([F, F[:, :1]],), {"axis": 1}),
        (([M],), {}),
        (((D, D),), {}),
    ],
    "elu": unary(F, D * 10),
    "exp": unary(F, D, S),
    "expand_dims": [((F, 0), {}), ((F,), {"axis": -1}), ((INT, 1), {}), ((S, 0), {})],
    "isfinite": unary(np.float32([1, np.inf, -np.inf, np.nan]), D),
    "linear": [
        ((D.astype(np.float32), RNG.normal(size=(4, 5)).astype(np.float32)), {}),
        ((D, RNG.normal(size=(4, 5)), RNG.normal(size=5)), {}),
        ((D, RNG.normal(size=(4, 5))), {"biases": RNG.normal(size=5)}),
        ((D, RNG.normal(size=(4, 5)), None), {}),
        ((D[:0], RNG.normal(size=(4, 5)), RNG.normal(size=5)), {}),
    ],
    "log": unary(np.exp(F), np.exp(D)),
    "log_softmax": [((F,), {}), ((D,), {"axis": 0}), ((BIG, 1), {}), ((F,), {"axis": 1})],
    "logical_and": [((M, N), {}), ((M, M), {})],
    "logical_not": unary(M),
    "logical_or": [((M, N), {}), ((N, M), {})],
    "matmul": [
        ((D, D.T), {}),
        ((RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 4, 5))), {}),
        ((RNG.normal(size=(2, 1, 3, 4)), RNG.normal(size=(5, 4, 2))), {}),
    ],
    "max": reductions(F, D, INT),
    "maximum": [
        ((F, G), {}),
        ((F, 0.25), {}),
        ((0.25, F), {}),
        ((INT, J), {}),
        ((INT, 1), {}),
        ((2, J), {}),
        ((S, F), {}),
    ],
    "mean": reductions(F, D),
    "min": reductions(F, D, INT),
    "minimum": [
        ((F, G), {}),
        ((F, 0.25), {}),
        ((0.25, F), {}),
        ((INT, INT.T.reshape(3, 4)), {}),
        ((INT, 1), {}),
        ((2, J), {}),
    ],
    "one_hot": [
        ((J, 5), {}),
        ((J,), {"depth": 4, "dtype": "int64"}),
        ((np.abs(INT), 5), {"dtype": "bool"}),
        ((J, 4, "float64"), {}),
    ],
    "ones": [
        (((2, 3),), {}),
        (([2], "int32"), {}),
        (((),), {"dtype": "bool"}),
        (((2,),), {"dtype": "float"}),
    ],
    "ones_like": unary(F, INT, M),
    "permute_dims": [((F, (2, 0, 1)), {}), ((F,), {"axes": (1, 0, 2)}), ((F, (-1, 0, 1)), {})],
    "relu": unary(F, D),
    "reshape": [
        ((F, (12, 2)), {}),
        ((F, (-1,)), {}),
        ((F,), {"shape": (2, -1, 3)}),
        ((S, (1, 1)), {}),
        ((F.swapaxes(0, 1), (24,)), {}),
    ],
    "sigmoid": unary(F, D * 20),
    "softmax": [((F,), {}), ((D,), {"axis": 0}), ((BIG, 1), {}), ((F,), {"axis": 1})],
    "softplus": unary(F, np.minimum(D * 20, 19.0)),
    "sqrt": unary(np.abs(F), np.abs(D)),
    "square": unary(F, INT, S),
    "squeeze": [((G, 1), {}), ((G,), {"axis": -1}), ((N, 0), {})],
    "stack": [(([F, F + 1], 0), {}), (([INT, INT],), {"axis": -1}), (([S, S],), {}), (((M, M), 1), {})],
    "stop_gradient": unary(F, INT),
    "sum": reductions(F, D, INT, U, J.reshape(2, 2)),
    "take": [
        ((F, np.array([2, 0, 2])), {}),
        ((F, np.array([1, 0, 1], np.int32), 1), {}),
        ((F, np.array([[1, 0], [0, 1]])), {"axis": -1}),
        ((INT, np.array(1)), {}),
        ((D, np.array([[0, 2]]), 0), {}),
        ((F, np.zeros(0, np.int64), 1), {}),
    ],
    "take_along_axis": [
        ((D, np.array([[0], [3], [1]])), {"axis": 1}),
        ((D, np.array([[0, 1], [3, 3], [1, 0]], np.int32)), {}),
        ((D, np.array([[2, 0, 1, 1]]), 0), {}),
    ],
    "tanh": unary(F, D),
    "where": [
        ((M, D, -D), {}),
        ((M, D.astype(np.float32), 0.0), {}),
        ((M, 1.0, D.astype(np.float32)), {}),
        ((N, INT, 0), {}),
        ((M, M, True), {}),
        ((M, J, 2), {}),
        ((M, S, 1.0), {}),
    ],
    "zeros": [
        (((2, 3),), {}),
        (([2], "int32"), {}),
        (((),), {"dtype": "bool"}),
        (((2,),), {"dtype": "float"}),
    ],
    "zeros_like": unary(F, INT, M),
}


def to_torch(value):
    if isinstance(value, np.ndarray):
        return torch.from_numpy(np.ascontiguousarray(value).reshape(value.shape).copy())
    if isinstance(value, list | tuple) and any(isinstance(item, np.ndarray) for item in value):
        return type(value)(map(to_torch, value))
    return value


def compare(given, expected):
    assert isinstance(given, torch.Tensor)
    given, expected = given.numpy(), np.asarray(expected)
    assert (given.shape, given.dtype) == (expected.shape, expected.dtype)
    if expected.dtype.kind == "f":
        tolerance = 1e-6 if expected.dtype == np.float32 else 1e-12
        np.testing.assert_allclose(given, expected, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(given, expected)


@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.parametrize("float_dtype", ["float32", "float64"])
def test_operation(name, float_dtype):
    for args, kwargs in CASES[name]:
        operation = OPERATIONS[name]
        expected = getattr(NumpyOps(float_dtype), name)(*args, **kwargs)
        ours = getattr(TorchOps(float_dtype), name)
        converted = {key: to_torch(value) for key, value in kwargs.items()}
        compare(ours(*map(to_torch, args), **converted), expected)
        # Options may be given by name as well as by position.
        bound = operation.signature.bind(*args, **kwargs).arguments
        parameters = operation.signature.parameters
        tensors = [
            key
            for key in bound
            if "TensorSpec" in parameters[key].annotation or "Operand" in parameters[key].annotation
        ]
        options = {key: value for key, value in bound.items() if key not in tensors}
        compare(ours(*(to_torch(bound[key]) for key in tensors), **options), expected)
        compare(ours(*(to_torch(value) for value in bound.values())), expected) if list(bound) == list(
            parameters
        ) else None


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_signatures(name):
    """Where the backend has a Python function of its own, it takes what the contract says."""
    ours = getattr(TorchOps(), name)
    assert callable(ours)
    if inspect.isbuiltin(ours) or type(ours).__name__ == "builtin_function_or_method":
        return
    parameters = list(inspect.signature(ours).parameters.values())
    wanted = list(OPERATIONS[name].signature.parameters.values())
    assert len(parameters) >= len(wanted)
    for mine, theirs in zip(parameters, wanted, strict=False):
        if theirs.default is not theirs.empty:
            assert (mine.name, mine.default) == (theirs.name, theirs.default)
    assert all(p.default is not p.empty for p in parameters[len(wanted) :])


OPERATORS = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "//": lambda x, y: x // y,
    "%": lambda x, y: x % y,
    "**": lambda x, y: abs(x) ** y if not isinstance(x, float) else x**y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
}


@pytest.mark.parametrize("operator", OPERATORS)
def test_operators(operator):
    run = OPERATORS[operator]
    floats = [(F, G), (D, D + 0.5), (F, 0.5), (2.0, F), (S, F), (F, 2)]
    integers = [(INT, np.abs(INT) + 1), (INT, 3), (7, np.abs(INT) + 1), (J, J)]
    for x, y in floats + ([] if operator in "/**" and operator != "*" else integers):
        compare(run(to_torch(x), to_torch(y)), run(x, y))


def test_logical_operators_and_slices():
    compare(to_torch(M) & to_torch(N), M & N)
    compare(to_torch(M) | to_torch(N), M | N)
    compare(~to_torch(M), ~M)
    compare(-to_torch(INT), -INT)
    for key in (
        0,
        -1,
        (slice(None), 1),
        (Ellipsis, None, 0),
        (slice(1, None), slice(None, None, 2)),
        slice(-2, None),
    ):
        compare(to_torch(F)[key], F[key])


def test_state():
    for ops, make in ((NumpyOps(), np.array), (TorchOps(), torch.tensor)):
        variable = make([1.0, 2.0])
        before = ops.read(variable)
        ops.assign(variable, make([3.0, 4.0]))
        ops.assign_add(variable, make([0.5, 0.5]))
        ops.assign_add(variable, 1.0)
        assert variable.tolist() == [4.5, 5.5]
        ops.assign(variable, 2.0)
        assert (variable.tolist(), before.tolist()) == ([2.0, 2.0], [1.0, 2.0])


def test_writes_are_seen_by_autograd():
    """A write between forward and backward must not give a wrong derivative silently."""
    ops, w = TorchOps(), torch.tensor([5.0], requires_grad=True)
    loss = torch.sum(w * w)
    ops.assign(w, torch.tensor([7.0]))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(loss, w)


def test_writes_record_nothing():
    ops = TorchOps()
    source, target = torch.tensor([2.0], requires_grad=True), torch.tensor([0.0], requires_grad=True)
    for write in (ops.assign, ops.assign_add):
        write(target, source * 3.0)
        assert target.is_leaf
        assert target.grad_fn is None
    assert target.tolist() == [12.0]


def test_stop_gradient():
    ops, x = TorchOps(), torch.tensor([2.0], requires_grad=True)
    assert not ops.stop_gradient(x).requires_grad
    (derivative,) = torch.autograd.grad((x * ops.stop_gradient(x)).sum(), x)
    assert derivative.tolist() == [2.0]


def test_softplus_of_large_numbers():
    """torch takes `x` itself above 20; the reference differs there by less than exp(-20)."""
    x = np.array([19.9, 20.1, 50.0])
    np.testing.assert_allclose(
        TorchOps.softplus(torch.from_numpy(x)).numpy(), NumpyOps.softplus(x), atol=2.1e-9, rtol=0
    )


def test_shape_gives_integers():
    assert TorchOps.shape(torch.zeros(2, 3)) == (2, 3)
    assert all(type(size) is int for size in TorchOps.shape(torch.zeros(2, 3)))


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_derivatives_of_convolutions_by_filters_of_every_layout(channels, outputs, dtype):
    x = torch.arange(4.0 * 9 * channels, dtype=dtype).reshape(4, 3, 3, channels)
    filters = torch.ones((1, 2, channels, outputs), dtype=dtype, requires_grad=True)
    (found,) = torch.autograd.grad(TorchOps("float64").conv2d(x, filters).sum(), filters)
    # Each weight meets every element of its two columns once.
    sums = torch.stack([x[:, :, :2].sum((0, 1, 2)), x[:, :, 1:].sum((0, 1, 2))])
    torch.testing.assert_close(found, sums[None, :, :, None].expand_as(found))


@pytest.mark.parametrize("kind", sorted(SEQUENTIAL))
@pytest.mark.parametrize("shape", [(), (3,), (16,), (700, 3)])
def test_one_draw_of_rows_has_the_numbers_of_one_for_each(kind, shape):
    parameters = {"uniform": (-1.0, 2.0), "integers": (0, 2**40)}.get(kind, ())
    dtype = torch.int64 if kind == "integers" else torch.float32
    one, each = (torch.Generator().manual_seed(3) for _ in range(2))
    rows = DRAWS[kind](one, (5, *shape), dtype, *parameters)
    assert torch.equal(rows, torch.stack([DRAWS[kind](each, shape, dtype, *parameters) for _ in range(5)]))
    assert torch.equal(one.get_state(), each.get_state())
