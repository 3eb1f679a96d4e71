"""What graph functions may not do, and the effects recorded of what they do."""

import numpy as np
import pytest

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops import (
    CONTRACT_VERSION,
    OPERATIONS,
    EffectRecorder,
    SymbolicDim,
    SymbolicOps,
    SymbolicTensor,
    SymbolicVariable,
    TensorSpec,
)

B = SymbolicDim.symbol("B")


def tensor(*shape, dtype="float32", low=None, high=None):
    return SymbolicTensor(TensorSpec(shape, dtype, low, high))


def new_ops(float_dtype="float32"):
    return SymbolicOps(EffectRecorder(), float_dtype)


OPS = new_ops()
X, INT, M = tensor(B, 3), tensor(B, 3, dtype="int64"), tensor(B, 3, dtype="bool")


def truth(x):
    if x > 0:
        return x


def add_in_place(x):
    x += 1.0
    return x


def floor_divide_in_place(x):
    x //= 2.0
    return x


def power_in_place(x):
    x **= 2.0
    return x


def remainder_in_place(x):
    x %= 2.0
    return x


def set_item(x):
    x[0] = 1.0


REFUSED = {
    "promotion of tensors": (lambda: X + INT, "no implicit promotion: float32[B, 3] with int64[B, 3]"),
    "promotion float32 float64": (lambda: X * tensor(3, dtype="float64"), "no implicit promotion"),
    "promotion int32 int64": (lambda: INT - tensor(3, dtype="int32"), "no implicit promotion"),
    "promotion of a scalar": (
        lambda: INT + 0.5,
        "no implicit promotion: int64[B, 3] with the Python scalar 0.5",
    ),
    "promotion of a bool": (lambda: X + True, "the Python scalar True"),
    "a size as a number": (
        lambda: X * OPS.shape(X)[0],
        "the size B cannot be combined with float32[B, 3]: use sizes only in shapes; as a tensor, compute it by",
    ),
    "bool arithmetic": (lambda: M + M, "ops.add needs a numeric tensor"),
    "integer division": (lambda: INT / 2, "ops.divide needs a float tensor"),
    "logical of numbers": (lambda: X & X, "ops.logical_and needs a bool tensor"),
    "if": (lambda: truth(X), "bool[B, 3] has no truth value before run time: use ops.where"),
    "and": (lambda: X and X, "no truth value"),
    "iteration": (lambda: list(X), "cannot be iterated"),
    "method": (lambda: X.mean(), "tensor method or attribute .mean on float32[B, 3]"),
    "misspelled method": (lambda: X.reshap(3), "Did you mean 'reshape'?"),
    "add in place": (lambda: add_in_place(X), "in-place operator on float32[B, 3]"),
    "floor divide in place": (lambda: floor_divide_in_place(X), "in-place operator"),
    "power in place": (lambda: power_in_place(X), "in-place operator"),
    "remainder in place": (lambda: remainder_in_place(X), "in-place operator"),
    "set item": (lambda: set_item(X), "in-place write into float32[B, 3]"),
    "unknown size": (
        lambda: X.shape[0],
        "x.shape[0] of float32[B, 3] is not fixed by the Space: use ops.shape(x)[0]",
    ),
    "all sizes": (lambda: tuple(X.shape), "use ops.shape(x)"),
    "index by a tensor": (lambda: X[INT], "use ops.take or ops.take_along_axis"),
    "mask": (lambda: X[M], "use ops.take"),
    "index by a list": (lambda: X[[0, 1]], "basic slicing takes integers"),
    "too many indices": (lambda: X[0, 0, 0], "too many indices for float32[B, 3]"),
    "index outside": (lambda: X[:, 3], "index 3 is outside an axis of size 3"),
    "two ellipses": (lambda: X[..., ...], "basic slicing"),
    "slice of an unknown size": (lambda: X[:2], "of the unknown size B"),
    "last of an unknown size": (lambda: X[-2:], "use ops.take, as in ops.take(x, ops.arange(2), axis=0)"),
    "step over an unknown size": (lambda: X[::2], "of the unknown size B"),
    "negative step": (lambda: X[:, ::-1], "the step must be positive"),
    "shapes": (lambda: X + tensor(4), "do not broadcast: 3 against 4"),
    "unknown sizes": (lambda: X[:, 0] + tensor(SymbolicDim.symbol("T")), "do not broadcast"),
    "unknown and fixed size": (lambda: X[:, 0] + tensor(5), "do not broadcast"),
    "dtype as text": (
        lambda: X.dtype == "float32",
        "comparing x.dtype with 'float32': x.dtype is an object of",
    ),
    "text as dtype": (
        lambda: X.dtype in ("float32",),
        "A name has the dtype of a Space: see check_input_spaces",
    ),
    "dtype as a key": (lambda: {"float32": 1}[X.dtype], "comparing x.dtype with 'float32'"),
    "attribute of a dtype": (lambda: X.dtype.name, "x.dtype.name: x.dtype is an object of the framework"),
    "largest of nothing": (
        lambda: OPS.max(tensor(0, 3), axis=0),
        "ops.max: axis 0 of float32[0, 3] has no elements",
    ),
    "index of nothing": (
        lambda: OPS.argmax(tensor(B, 0), axis=1),
        "ops.argmax: axis 1 of float32[B, 0] has no elem",
    ),
    "share of nothing": (
        lambda: OPS.softmax(tensor(0)),
        "ops.softmax: axis 0 of float32[0] has no elements",
    ),
    "shares over all axes": (lambda: OPS.softmax(X, axis=None), "ops.softmax: axis None does not exist"),
    "shares over several axes": (
        lambda: OPS.log_softmax(X, axis=(0, 1)),
        "ops.log_softmax: axis (0, 1) does",
    ),
    "text of a dtype": (
        lambda: str(X.dtype) == "float32",
        "str(x.dtype) and 'float32': x.dtype is an object of",
    ),
    "beginning of a dtype": (
        lambda: str(X.dtype).startswith("float"),
        "str(x.dtype) and 'float': x.dtype is an",
    ),
    "text as a dtype": (
        lambda: OPS.zeros((2,), str(X.dtype)),
        "str(x.dtype) and 'float': x.dtype is an object",
    ),
    "first of what values decide": (
        lambda: OPS.boolean_mask(X, M[:, 0])[:1],
        "may be too small: use ops.take",
    ),
    "last of the rest": (lambda: X[1:][-1:], "of the unknown size B - 1 in"),
    "spread of nothing": (
        lambda: OPS.std(tensor(0, B)),
        "ops.std: axis None of float32[0, B] has no elements",
    ),
    "out of nothing": (lambda: OPS.take(tensor(0, 3), INT), "ops.take: axis 0 of float32[0, 3] is empty"),
    "image of no height": (
        lambda: OPS.resize(tensor(B, 0, 3, 1), (2, 2)),
        "images [N, H, W, C] of a fixed height",
    ),
    "filter of no width": (
        lambda: OPS.conv2d(tensor(B, 3, 3, 1), tensor(1, 0, 1, 2)),
        "filters [h, w, C, O]",
    ),
    "order of bools": (lambda: M < M, "bool[B, 3] has no order: use ops.logical_and"),
    "negative of bytes": (
        lambda: -tensor(3, dtype="uint8"),
        "negative of uint8[3]: it has no negative numbers",
    ),
    "too small": (lambda: tensor(3, dtype="uint8") + -2, "the number -2 does not fit into uint8[3]"),
    "too large": (lambda: OPS.full((2,), 300, "uint8"), "the number 300 does not fit into uint8[]"),
    "no operand": (lambda: OPS.maximum(1.0, 2.0), "at least one operand must be a tensor"),
    "scalar for a tensor": (lambda: OPS.exp(1.0), "ops.exp: x must be a tensor, given float 1.0"),
    "array for a tensor": (lambda: OPS.exp(np.ones(3)), "ops.exp: x must be a tensor, given ndarray"),
    "None for a tensor": (lambda: OPS.maximum(X, None), "y must be a tensor, given NoneType"),
    "tensor for a list": (lambda: OPS.concat(X), "arrays must be a list of tensors"),
    "number in a list": (lambda: OPS.stack([X, 1.0]), "arrays must be a tensor, given float 1.0"),
    "empty list": (lambda: OPS.concat([]), "needs at least one tensor"),
    "tensor by name": (lambda: OPS.exp(x=X), "pass x as a positional argument"),
    "missing argument": (lambda: OPS.reshape(X), "missing a required argument: 'shape'"),
    "unknown argument": (lambda: OPS.mean(X, dim=1), "unexpected keyword argument 'dim'"),
    "axis": (lambda: OPS.mean(X, axis=2), "axis 2 does not exist in a tensor of rank 2"),
    "no axes": (lambda: OPS.sum(X, axis=()), "given ()"),
    "axis twice": (lambda: OPS.sum(X, axis=(0, -2)), "different axes"),
    "mean of integers": (lambda: OPS.mean(INT), "ops.mean needs a float tensor"),
    "sum of bools": (lambda: OPS.sum(M), "ops.sum needs a numeric tensor"),
    "all of numbers": (lambda: OPS.all(X), "ops.all needs a bool tensor"),
    "exp of integers": (lambda: OPS.exp(INT), "ops.exp needs a float tensor"),
    "relu of integers": (lambda: OPS.relu(INT), "ops.relu needs a float tensor"),
    "condition": (lambda: OPS.where(X, X, X), "ops.where needs a bool tensor"),
    "where promotes": (lambda: OPS.where(M, X, INT), "no implicit promotion"),
    "fraction with unsigned integers": (
        lambda: tensor(B, dtype="uint8") * 0.5,
        "no implicit promotion: uint8[B] with the Python scalar 0.5",
    ),
    "clip promotes": (lambda: OPS.clip(INT, 0.5, 1), "the Python scalar 0.5"),
    "indices": (lambda: OPS.take(X, X), "needs int32 or int64 indices"),
    "indices of another rank": (
        lambda: OPS.take_along_axis(X, INT[:, 0], axis=1),
        "take_along_axis: expected indices [B, any] for float32[B, 3] along axis 1, given int64[B]; sizes of 1",
    ),
    "indices that would be spread": (
        lambda: OPS.take_along_axis(X, INT[:, :1], axis=0),
        "expected indices [any, 3] for float32[B, 3] along axis 0, given int64[B, 1]; sizes of 1 do not broadcast: "
        "use ops.broadcast_to",
    ),
    "reshape": (lambda: OPS.reshape(X, (B, 4)), "has 3*B elements, the shape (B, 4) has 4*B"),
    "reshape with a rest": (lambda: OPS.reshape(X, (-1, 4)), "does not fit the shape (-1, 4)"),
    "reshape with two unknowns": (lambda: OPS.reshape(X, (-1, -1)), "only one size"),
    "reshape to negative sizes": (lambda: OPS.reshape(tensor(6), (-2, -3)), "negative"),
    "squeeze": (lambda: OPS.squeeze(X, axis=1), "axis 1 of float32[B, 3] has size 3, not 1"),
    "squeeze an unknown size": (lambda: OPS.squeeze(X, axis=0), "has size B, not 1"),
    "permute": (lambda: OPS.permute_dims(X, (0, 0)), "is not a permutation of the 2 axes"),
    "broadcast": (lambda: OPS.broadcast_to(X, (3,)), "does not broadcast to (3,)"),
    "concat": (lambda: OPS.concat([X, tensor(B, 4)]), "differ outside axis 0"),
    "stack": (lambda: OPS.stack([X, tensor(3)]), "differ in shape"),
    "inner sizes": (
        lambda: OPS.matmul(X, tensor(4, 2)),
        "inner sizes of float32[B, 3] and float32[4, 2] differ: 3 and 4",
    ),
    "matmul of vectors": (lambda: OPS.matmul(tensor(3), tensor(3)), "rank 2 or more"),
    "matmul of integers": (lambda: OPS.matmul(INT, tensor(3, 2, dtype="int64")), "needs a float tensor"),
    "linear": (lambda: OPS.linear(tensor(B, 2, 3), tensor(3, 2)), "needs x [B, K] and weights [K, N]"),
    "biases": (lambda: OPS.linear(X, tensor(3, 2), tensor(3)), "do not fit weights"),
    "biases with two axes": (
        lambda: OPS.linear(X, tensor(3, 2), tensor(1, 2)),
        "biases float32[1, 2] do not fit weights float32[3, 2]",
    ),
    "dtype": (lambda: OPS.astype(X, "flaot32"), "unknown dtype 'flaot32'. Did you mean 'float32'?"),
    "dtype class": (lambda: OPS.zeros((2,), np.float32), "unknown dtype"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    run, message = REFUSED[case]
    with pytest.raises(InferenceError) as error:
        run()
    assert message in str(error.value)


def test_unknown_operation_names_the_nearest():
    with pytest.raises(AttributeError, match=r"no operation ops.reduce_mean. .*mean"):
        OPS.reduce_mean(X)
    with pytest.raises(AttributeError, match="Did you mean 'softmax'"):
        OPS.softmaxx(X)
    assert not hasattr(OPS, "__array__")


def test_a_size_that_is_unknown_decides_nothing():
    with pytest.raises(TypeError, match="cannot decide a Python `if`"):
        bool(OPS.shape(X)[0])


def test_fixed_sizes_are_plain_integers():
    assert (X.shape[1], X.shape[-1], X.shape[1:], len(X.shape)) == (3, 3, (3,), 2)
    assert type(X.shape[1]) is int
    assert tuple(tensor(2, 3).shape) == (2, 3)
    assert (repr(X.dtype), repr(X)) == ("float32", "float32[B, 3]")


def test_the_name_of_a_dtype_is_in_its_text():
    assert "float" in str(X.dtype) and "float" not in str(INT.dtype)


def test_sizes_from_shape_go_into_other_operations():
    batch, units = OPS.shape(X)
    assert OPS.zeros((batch, 2)).spec == TensorSpec((B, 2), "float32", 0, 0)
    assert OPS.reshape(X, (units * batch,)).spec.shape == (3 * B,)
    assert OPS.broadcast_to(tensor(3), (batch, 3)).spec.shape == (B, 3)
    assert OPS.reshape(tensor(B, SymbolicDim.symbol("T"), 3), (-1, 3)).spec.shape == (
        B * SymbolicDim.symbol("T"),
        3,
    )


def test_the_float_of_the_execution():
    ops = new_ops("float64")
    assert [t.spec.dtype for t in (ops.zeros((2,)), ops.ones((2,), "float"), ops.one_hot(INT, 3))] == [
        "float64"
    ] * 3
    assert ops.astype(INT, "float").spec.dtype == "float64"
    assert ops.zeros((2,), "float32").spec.dtype == "float32"


FAMILIES = {
    *("elementwise", "reduction", "contraction", "gather", "sorting", "shaping", "creation", "nn"),
    *("convolution", "recurrence", "state", "random", "control"),
}


def test_every_operation_is_documented_and_known_by_its_name():
    for name, operation in OPERATIONS.items():
        assert operation.name == name
        assert operation.doc.endswith(".")
        assert operation.family in FAMILIES
    assert isinstance(CONTRACT_VERSION, str)


# Effects.


def variable(recorder, name="v", *shape, dtype="float32"):
    return SymbolicVariable(name, TensorSpec(shape, dtype), recorder)


def record(function):
    recorder = EffectRecorder()
    v, w = variable(recorder, "v", 2, 2), variable(recorder, "w", 2, 2)
    result = function(SymbolicOps(recorder, "float32"), v, w)
    return recorder, result


@pytest.mark.parametrize(
    "use",
    [
        lambda ops, v, w: v + 1.0,
        lambda ops, v, w: 1.0 - v,
        lambda ops, v, w: -v,
        lambda ops, v, w: v < 1.0,
        lambda ops, v, w: v[0],
        lambda ops, v, w: ops.exp(v),
        lambda ops, v, w: ops.read(v),
        lambda ops, v, w: ops.mean(v, axis=0),
        lambda ops, v, w: ops.concat([v, v]),
        lambda ops, v, w: ops.take(v, tensor(B, dtype="int64")),
        lambda ops, v, w: ops.linear(tensor(B, 2), v),
        lambda ops, v, w: ops.where(v > 0.0, 0.0, v),
    ],
)
def test_every_use_of_a_variable_is_a_read(use):
    recorder, _ = record(use)
    assert (recorder.reads, recorder.writes, recorder.hazard) == ({"v"}, set(), False)


def test_shape_of_a_variable_is_no_read():
    recorder, _ = record(lambda ops, v, w: (v.shape[0], v.dtype, ops.shape(v)))
    assert not recorder.reads


@pytest.mark.parametrize("name", ["assign", "assign_add"])
def test_writes(name):
    recorder, result = record(lambda ops, v, w: getattr(ops, name)(v, w + 1.0))
    assert result is None
    assert (recorder.reads, recorder.writes, recorder.hazard) == ({"w"}, {"v"}, False)
    recorder, _ = record(lambda ops, v, w: getattr(ops, name)(v, 0.5))
    assert (recorder.reads, recorder.writes) == (set(), {"v"})


def test_a_read_before_a_write_is_a_hazard():
    recorder, _ = record(lambda ops, v, w: ops.assign(v, v + w))
    assert (recorder.reads, recorder.writes, recorder.hazard) == ({"v", "w"}, {"v"}, True)
    recorder, _ = record(lambda ops, v, w: (ops.assign(v, w), v + 1.0))
    assert (recorder.reads, recorder.writes, recorder.hazard) == ({"v", "w"}, {"v"}, False)


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda ops, v, w: ops.assign(v, v[0]), "does not have the shape of the variable"),
        (lambda ops, v, w: ops.assign_add(v, tensor(1, 2)), "does not have the shape of the variable"),
        (lambda ops, v, w: ops.assign(v, tensor(2, 2, dtype="float64")), "no implicit promotion"),
        (lambda ops, v, w: ops.assign(v, True), "the Python scalar True"),
        (lambda ops, v, w: ops.assign(tensor(2, 2), v), "ops.assign needs a variable of the component"),
        (lambda ops, v, w: ops.read(v + 1.0), "ops.read needs a variable"),
    ],
)
def test_wrong_writes(write, message):
    with pytest.raises(InferenceError, match=message):
        record(write)


def test_views_alias_the_variable_and_copies_do_not():
    def views(ops, v, w):
        return [
            v[0],
            v[:, 0][None],
            ops.reshape(v, (4,)),
            ops.expand_dims(v, 0),
            ops.squeeze(ops.expand_dims(v, 0), 0),
            ops.permute_dims(v, (1, 0)),
            ops.broadcast_to(v, (3, 2, 2)),
            ops.astype(v, "float32"),
            ops.stop_gradient(v),
        ]

    def copies(ops, v, w):
        indices = tensor(B, dtype="int64")
        return [
            v + w,
            -v,
            v * 1.0,
            ops.take(v, indices),
            ops.concat([v]),
            ops.stack([v]),
            ops.relu(v),
            ops.sum(v),
        ]

    _, aliasing = record(views)
    assert [x.aliases for x in aliasing] == [frozenset({"v"})] * len(aliasing)
    _, own = record(copies)
    assert [x.aliases for x in own] == [frozenset()] * len(own)


VIEWS = {
    "a part": lambda ops, v: v[0],
    "a reshaped one": lambda ops, v: ops.reshape(v, (4,)),
    "a part of a part": lambda ops, v: v[0][1:],
    "itself": lambda ops, v: ops.stop_gradient(v),
}


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_worth_nothing_after_a_write(view):
    """torch would see the write, TensorFlow would not."""

    def use(ops, v, w):
        old = VIEWS[view](ops, v)
        ops.assign(v, w)
        return old + 1.0

    with pytest.raises(
        InferenceError, match=r"view of variable v is used after the variable was written: .*ops.read"
    ):
        record(use)


def test_what_may_be_used_after_a_write():
    def use(ops, v, w):
        old, copied, other = ops.read(v), v[0] * 1.0, w[0]
        ops.assign(v, w)
        return old[0] + copied + other + v[1]

    recorder, result = record(use)
    assert (recorder.hazard, result.aliases) == (True, frozenset())


def test_a_part_of_an_open_size():
    x = OPS.reshape(X, (4, -1, 3))
    assert repr(x.spec) == "float32[4, B//4, 3]"
    assert repr(x[0].spec) == "float32[B//4, 3]"
    assert OPS.reshape(x[1], (-1,)).spec == OPS.reshape(x[2], (-1,)).spec
    with pytest.raises(InferenceError, match="does not fit"):
        OPS.reshape(tensor(B + 1, 2), (-1, 4))
