"""Every rule of the contract against what NumPy does with arrays of these shapes, dtypes and bounds."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.core.ops import OPERATIONS, EffectRecorder, SymbolicDim, SymbolicOps, SymbolicTensor, TensorSpec
from rlgraph.core.ops.elementwise import broadcast_shapes

FLOATS = ["float32", "float64"]
INTS = ["int32", "int64"]
#: Sizes put in for the symbols, one run each.
SIZES = [{"B": 4, "T": 5}, {"B": 7, "T": 3}, {"B": 3, "T": 11}]

fast = settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

DIMS = st.sampled_from([SymbolicDim.symbol("B"), SymbolicDim.symbol("T"), 1, 2, 3])


@dataclass
class Call:
    """One call of an operation: positional arguments (specs stand for tensors) and options."""

    args: list[Any]
    kwargs: dict[str, Any] = field(default_factory=dict)


def concrete(value, sizes, rng):
    """A spec becomes an array within its bounds, a size its number."""
    if isinstance(value, TensorSpec):
        return array_of(value, tuple(concrete(dim, sizes, rng) for dim in value.shape), rng)
    if isinstance(value, SymbolicDim):
        return eval(repr(value), {}, sizes)
    if isinstance(value, list | tuple):
        return type(value)(concrete(item, sizes, rng) for item in value)
    return value


def array_of(spec, shape, rng):
    if spec.dtype == "bool":
        return rng.random(shape) < 0.5
    low, high = spec.low, spec.high
    if spec.is_int:
        low = -5 if low is None else low
        return rng.integers(low, max(low, 5) + 1 if high is None else high, shape).astype(spec.dtype)
    low = -3.0 if low is None else low
    high = max(low, 3.0) if high is None else high
    return (low + rng.random(shape) * (high - low)).astype(spec.dtype)


def symbolic(value):
    if isinstance(value, TensorSpec):
        return SymbolicTensor(value)
    return type(value)(symbolic(item) for item in value) if isinstance(value, list | tuple) else value


def check(name, call, run=None):
    """The rule's shape, dtype and bounds are those of NumPy's result, whatever the sizes are."""
    run = run or (lambda ops, *args, **kwargs: getattr(ops, name)(*args, **kwargs))
    result = run(SymbolicOps(EffectRecorder(), "float32"), *map(symbolic, call.args), **call.kwargs)
    assert isinstance(result, SymbolicTensor)
    for number, sizes in enumerate(SIZES):
        rng = np.random.default_rng(number)
        with np.errstate(all="ignore"):
            given_ = run(
                NumpyOps("float32"),
                *(concrete(argument, sizes, rng) for argument in call.args),
                **{key: concrete(argument, sizes, rng) for key, argument in call.kwargs.items()},
            )
        assert given_.shape == concrete(result.spec.shape, sizes, rng), (call, sizes)
        assert str(given_.dtype) == result.spec.dtype, call
        check_bounds(result.spec, np.asarray(given_), call)


def check_bounds(spec, values, call):
    finite = values[np.isfinite(values)] if spec.is_float else values
    slack = 1e-5 if spec.is_float else 0
    if finite.size and spec.low is not None:
        assert finite.min() >= spec.low - slack, (call, spec.low, finite.min())
    if finite.size and spec.high is not None:
        above = finite.max() < spec.high if spec.is_int else finite.max() <= spec.high + slack
        assert above, (call, spec.high, finite.max())


# Strategies.


def shapes(min_rank=0, max_rank=3):
    return st.lists(DIMS, min_size=min_rank, max_size=max_rank).map(tuple)


@st.composite
def tensors(draw, dtypes, shape=None, min_rank=0, max_rank=3):
    shape = draw(shapes(min_rank, max_rank)) if shape is None else shape
    dtype = draw(st.sampled_from(dtypes))
    low = high = None
    if dtype != "bool":
        pair = sorted((draw(st.integers(-3, 3)), draw(st.integers(-3, 3))))
        low = pair[0] if draw(st.booleans()) else None
        high = pair[1] + (1 if dtype in INTS else 0) if draw(st.booleans()) else None
    return TensorSpec(shape, dtype, low, high)


@st.composite
def broadcastable(draw, count):
    """Shapes that broadcast: of one shape some axes are 1 and some leading ones are missing."""
    full = draw(shapes())
    result = []
    for _ in range(count):
        start = draw(st.integers(0, len(full)))
        result.append(tuple(1 if draw(st.booleans()) else dim for dim in full[start:]))
    return result


@st.composite
def binary(draw, dtypes, scalars=True):
    """Two tensors that broadcast, or a tensor and a Python scalar on either side."""
    one, other = draw(broadcastable(2))
    dtype = draw(st.sampled_from(dtypes))
    operands = [draw(tensors([dtype], one)), draw(tensors([dtype], other))]
    if scalars and draw(st.booleans()):
        kind = st.booleans() if dtype == "bool" else st.integers(-2, 2) if dtype in INTS else st.just(0.5)
        operands[draw(st.integers(0, 1))] = draw(kind)
    return Call(operands)


@st.composite
def reductions(draw, dtypes):
    x = draw(tensors(dtypes))
    rank = len(x.shape)
    axes = st.none()
    if rank:
        axes |= st.integers(-rank, rank - 1)
        axes |= st.lists(st.integers(0, rank - 1), min_size=1, unique=True).map(tuple)
    return Call([x], {"axis": draw(axes), "keepdims": draw(st.booleans())})


@st.composite
def along_axis(draw, dtypes, optional=True):
    x = draw(tensors(dtypes, min_rank=1))
    axis = draw(st.integers(-len(x.shape), len(x.shape) - 1))
    return Call([x], {"axis": axis} if not optional or draw(st.booleans()) else {})


@st.composite
def wheres(draw):
    condition, one, other = draw(broadcastable(3))
    dtype = draw(st.sampled_from([*FLOATS, *INTS, "bool"]))
    operands = [draw(tensors([dtype], one)), draw(tensors([dtype], other))]
    if draw(st.booleans()):
        scalar = {"f": 0.5, "i": 2, "b": True}[dtype[0]]
        operands[draw(st.integers(0, 1))] = scalar
    return Call([draw(tensors(["bool"], condition)), *operands])


@st.composite
def matmuls(draw):
    lead_x, lead_y = draw(broadcastable(2))
    m, k, n = draw(DIMS), draw(DIMS), draw(DIMS)
    dtype = draw(st.sampled_from(FLOATS))
    return Call([draw(tensors([dtype], (*lead_x, m, k))), draw(tensors([dtype], (*lead_y, k, n)))])


@st.composite
def linears(draw):
    b, k, n = draw(DIMS), draw(DIMS), draw(DIMS)
    dtype = [draw(st.sampled_from(FLOATS))]
    args = [draw(tensors(dtype, (b, k))), draw(tensors(dtype, (k, n)))]
    return Call(
        args + draw(st.sampled_from([[], [None]]))
        if draw(st.booleans())
        else [*args, draw(tensors(dtype, (n,)))]
    )


@st.composite
def takes(draw):
    x = draw(tensors([*FLOATS, *INTS, "bool"], min_rank=1))
    indices = TensorSpec(draw(shapes(0, 2)), draw(st.sampled_from(INTS)), 0, 1)
    axis = draw(st.integers(-len(x.shape), len(x.shape) - 1))
    return Call([x, indices], {"axis": axis} if draw(st.booleans()) else {})


@st.composite
def takes_along_axis(draw):
    x = draw(tensors([*FLOATS, *INTS], min_rank=1))
    axis = draw(st.integers(-len(x.shape), len(x.shape) - 1))
    shape = list(x.shape)
    shape[axis] = draw(DIMS)
    return Call([x, TensorSpec(tuple(shape), draw(st.sampled_from(INTS)), 0, 1)], {"axis": axis})


@st.composite
def one_hots(draw):
    depth = draw(st.integers(1, 4))
    indices = TensorSpec(draw(shapes()), draw(st.sampled_from(INTS)), 0, depth)
    dtype = draw(
        st.sampled_from([{}, {"dtype": "int64"}, {"dtype": "float64"}, {"dtype": "float"}, {"dtype": "bool"}])
    )
    return Call([indices], {"depth": depth, **dtype})


@st.composite
def reshapes(draw):
    x = draw(tensors([*FLOATS, *INTS, "bool"], min_rank=1))
    shape = list(x.shape)
    for _ in range(draw(st.integers(0, 2))):  # merge neighbours
        if len(shape) > 1:
            i = draw(st.integers(0, len(shape) - 2))
            shape[i : i + 2] = [shape[i] * shape[i + 1]]
    if draw(st.booleans()):
        shape.insert(draw(st.integers(0, len(shape))), 1)
    if draw(st.booleans()):
        free = draw(st.integers(0, len(shape) - 1))
        rest = [dim for i, dim in enumerate(shape) if i != free]
        if all(isinstance(dim, int) or len(dim._terms) == 1 for dim in rest):
            shape[free] = -1
    return Call([x], {"shape": tuple(shape)})


@st.composite
def expands(draw):
    x = draw(tensors([*FLOATS, *INTS, "bool"]))
    return Call([x], {"axis": draw(st.integers(-len(x.shape) - 1, len(x.shape)))})


@st.composite
def squeezes(draw):
    x = draw(tensors([*FLOATS, *INTS, "bool"]))
    axis = draw(st.integers(0, len(x.shape)))
    x = x.with_shape((*x.shape[:axis], 1, *x.shape[axis:]))
    return Call([x], {"axis": draw(st.sampled_from([axis, axis - len(x.shape)]))})


@st.composite
def permutations(draw):
    x = draw(tensors([*FLOATS, *INTS, "bool"]))
    return Call([x], {"axes": tuple(draw(st.permutations(range(len(x.shape)))))})


@st.composite
def broadcasts(draw):
    one, other = draw(broadcastable(2))
    return Call([draw(tensors([*FLOATS, *INTS, "bool"], one))], {"shape": broadcast_shapes(one, other)})


@st.composite
def concats(draw):
    first = draw(tensors([*FLOATS, *INTS, "bool"], min_rank=1))
    axis = draw(st.integers(-len(first.shape), len(first.shape) - 1))
    parts = [first]
    for _ in range(draw(st.integers(0, 2))):
        shape = list(first.shape)
        shape[axis] = draw(DIMS)
        parts.append(draw(tensors([first.dtype], tuple(shape))))
    return Call([parts], {"axis": axis})


@st.composite
def stacks(draw):
    first = draw(tensors([*FLOATS, *INTS, "bool"]))
    parts = [first] + [draw(tensors([first.dtype], first.shape)) for _ in range(draw(st.integers(0, 2)))]
    return Call([parts], {"axis": draw(st.integers(-len(first.shape) - 1, len(first.shape)))})


@st.composite
def creations(draw):
    dtype = draw(
        st.sampled_from([{}, {"dtype": "float"}, {"dtype": "int64"}, {"dtype": "bool"}, {"dtype": "uint8"}])
    )
    return Call([], {"shape": draw(shapes()), **dtype})


@st.composite
def clips(draw):
    x = draw(tensors([*FLOATS, *INTS]))
    low, high = sorted((draw(st.integers(-2, 2)), draw(st.integers(-2, 2))))
    return Call([x, low, high] if x.is_int else [x, float(low), float(high)])


def unary(*dtypes):
    return tensors(list(dtypes)).map(lambda x: Call([x]))


STRATEGIES = {
    "abs": unary(*FLOATS, *INTS),
    "all": reductions(["bool"]),
    "argmax": along_axis([*FLOATS, *INTS], optional=False),
    "astype": st.tuples(
        tensors([*FLOATS, *INTS, "bool"]),
        st.sampled_from(["float32", "float64", "int32", "int64", "bool", "float"]),
    ).map(lambda pair: Call(list(pair))),
    "broadcast_to": broadcasts(),
    "clip": clips(),
    "concat": concats(),
    "elu": unary(*FLOATS),
    "exp": unary(*FLOATS),
    "expand_dims": expands(),
    "isfinite": unary(*FLOATS),
    "linear": linears(),
    "log": unary(*FLOATS),
    "log_softmax": along_axis(FLOATS),
    "logical_and": binary(["bool"], scalars=False),
    "logical_not": unary("bool"),
    "logical_or": binary(["bool"], scalars=False),
    "matmul": matmuls(),
    "max": reductions([*FLOATS, *INTS]),
    "maximum": binary([*FLOATS, *INTS]),
    "mean": reductions(FLOATS),
    "min": reductions([*FLOATS, *INTS]),
    "minimum": binary([*FLOATS, *INTS]),
    "one_hot": one_hots(),
    "ones": creations(),
    "ones_like": unary(*FLOATS, *INTS, "bool"),
    "permute_dims": permutations(),
    "relu": unary(*FLOATS),
    "reshape": reshapes(),
    "sigmoid": unary(*FLOATS),
    "softmax": along_axis(FLOATS),
    "softplus": unary(*FLOATS),
    "sqrt": unary(*FLOATS),
    "square": unary(*FLOATS, *INTS),
    "squeeze": squeezes(),
    "stack": stacks(),
    "stop_gradient": unary(*FLOATS, *INTS, "bool"),
    "sum": reductions([*FLOATS, *INTS]),
    "take": takes(),
    "take_along_axis": takes_along_axis(),
    "tanh": unary(*FLOATS),
    "where": wheres(),
    "zeros": creations(),
    "zeros_like": unary(*FLOATS, *INTS, "bool"),
}


def test_every_operation_but_those_on_variables_streams_and_functions_has_a_strategy():
    families = (
        "state",
        "random",
        "control",
    )  # test_symbolic.py, test_state.py, test_random.py, test_control.py
    others = {name for name, operation in OPERATIONS.items() if operation.family in families}
    assert set(STRATEGIES) == set(OPERATIONS) - others


@pytest.mark.parametrize("name", sorted(STRATEGIES))
@fast
@given(data=st.data())
def test_rule(name, data):
    check(name, data.draw(STRATEGIES[name]))


OPERATORS = {
    "+": (lambda _, x, y: x + y, [*FLOATS, *INTS]),
    "-": (lambda _, x, y: x - y, [*FLOATS, *INTS]),
    "*": (lambda _, x, y: x * y, [*FLOATS, *INTS]),
    "/": (lambda _, x, y: x / y, FLOATS),
    "//": (lambda _, x, y: x // y, [*FLOATS, *INTS]),
    "%": (lambda _, x, y: x % y, [*FLOATS, *INTS]),
    "**": (lambda _, x, y: x**y, FLOATS),
    "<": (lambda _, x, y: x < y, [*FLOATS, *INTS]),
    "<=": (lambda _, x, y: x <= y, [*FLOATS, *INTS]),
    ">": (lambda _, x, y: x > y, [*FLOATS, *INTS]),
    ">=": (lambda _, x, y: x >= y, [*FLOATS, *INTS]),
    "==": (lambda _, x, y: x == y, [*FLOATS, *INTS, "bool"]),
    "!=": (lambda _, x, y: x != y, [*FLOATS, *INTS, "bool"]),
}


@pytest.mark.parametrize("operator", sorted(OPERATORS))
@fast
@given(data=st.data())
def test_operator(operator, data):
    run, dtypes = OPERATORS[operator]
    check(operator, data.draw(binary(dtypes)), run)


@fast
@given(data=st.data())
def test_logical_operators(data):
    check("&", data.draw(binary(["bool"], scalars=False)), lambda _, x, y: x & y)
    check("|", data.draw(binary(["bool"], scalars=False)), lambda _, x, y: x | y)
    check("~", Call([data.draw(tensors(["bool"]))]), lambda _, x: ~x)
    check("-", Call([data.draw(tensors([*FLOATS, *INTS]))]), lambda _, x: -x)


@st.composite
def slices(draw):
    """A tensor and a key of basic slicing; unknown sizes take slices that do not depend on them."""
    x = draw(tensors([*FLOATS, *INTS, "bool"], max_rank=4))
    ends = st.none() | st.integers(-4, 4)
    keys = []
    for dim in x.shape[: draw(st.integers(0, len(x.shape)))]:
        if isinstance(dim, int):
            index = st.integers(-dim, dim - 1)
            keys.append(draw(index | st.builds(slice, ends, ends, st.none() | st.integers(1, 3))))
        else:
            start, stop = st.none() | st.integers(0, 1), st.none() | st.integers(-2, -1)
            keys.append(
                draw(st.sampled_from([0, -1]) | st.builds(slice, start, stop, st.sampled_from([None, 1])))
            )
    for _ in range(draw(st.integers(0, 2))):
        keys.insert(draw(st.integers(0, len(keys))), None)
    if draw(st.booleans()):
        keys.insert(len(keys), Ellipsis)
    return x, keys[0] if len(keys) == 1 and draw(st.booleans()) else tuple(keys)


@fast
@given(slices())
def test_slicing(pair):
    x, key = pair
    check("[]", Call([x]), lambda _, tensor: tensor[key])


@fast
@given(st.data())
def test_ellipsis_stands_anywhere(data):
    x = data.draw(tensors(FLOATS, min_rank=2))
    check("[]", Call([x]), lambda _, tensor: tensor[..., 0])
    check("[]", Call([x]), lambda _, tensor: tensor[0, ...])
    check("[]", Call([x]), lambda _, tensor: tensor[None, ..., None, 0])


def test_bounds_of_joined_tensors_hold_for_all_of_them():
    ops = SymbolicOps(EffectRecorder(), "float32")
    parts = [(0.0, 1.0), (-2.0, 0.5), (-1.0, 7.0)]
    tensors_ = [SymbolicTensor(TensorSpec((2,), "float32", low, high)) for low, high in parts]
    open_ = SymbolicTensor(TensorSpec((2,), "float32", None, 9.0))
    for join in (ops.concat, ops.stack):
        assert (join(tensors_).spec.low, join(tensors_).spec.high) == (-2.0, 7.0)
        assert (join([*tensors_, open_]).spec.low, join([*tensors_, open_]).spec.high) == (None, 9.0)


def test_what_numpy_broadcasts_the_rule_broadcasts():
    for one, other in [((2, 3), (3,)), ((1,), (4, 1)), ((), (2, 2)), ((5, 1, 3), (4, 1))]:
        assert broadcast_shapes(one, other) == np.broadcast_shapes(one, other)
