"""Every rule of the contract against what NumPy does with arrays of these shapes, dtypes and bounds."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.core.ops import OPERATIONS, EffectRecorder, SymbolicOps, SymbolicTensor, TensorSpec
from rlgraph.core.ops.elementwise import broadcast_shapes
from rlgraph.testing.operations import (
    OPERATION_CASES,
    OPERATORS,
    OTHER_FAMILIES,
    SIZES,
    Call,
    concrete,
    smooth,
    symbolic,
)
from rlgraph.testing.operations.strategies import ANY, FLOATS, tensors

fast = settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def check(call, run, sized_by=None):
    """The rule's shape, dtype and bounds are those of NumPy's result, whatever the sizes are."""
    asked = symbolic(call)
    specs = run(SymbolicOps(EffectRecorder(), "float32"), *asked.args, **asked.kwargs)
    for number, sizes in enumerate(SIZES):
        rng = np.random.default_rng(number)
        numbers = concrete(call, sizes, rng)
        with np.errstate(all="ignore"):
            arrays = run(NumpyOps("float32"), *numbers.args, **numbers.kwargs)
        if sized_by is not None:
            sizes = {**sizes, "N_0": np.count_nonzero(numbers.args[sized_by])}
        several = isinstance(specs, tuple)
        assert isinstance(arrays, tuple) == several
        pairs = zip(specs, arrays, strict=True) if several else [(specs, arrays)]
        for tensor, array in pairs:
            check_result(tensor, np.asarray(array), sizes, call)


def check_result(tensor, array, sizes, call):
    assert isinstance(tensor, SymbolicTensor)
    assert array.shape == concrete(tensor.spec.shape, sizes, None), (call, sizes)
    assert str(array.dtype) == tensor.spec.dtype, call
    check_bounds(tensor.spec, array, call)


def check_bounds(spec, values, call):
    finite = values[np.isfinite(values)] if spec.is_float else values
    slack = 1e-5 if spec.is_float else 0
    if finite.size and spec.low is not None:
        assert finite.min() >= spec.low - slack, (call, spec.low, finite.min())
    if finite.size and spec.high is not None:
        above = finite.max() < spec.high if spec.is_int else finite.max() <= spec.high + slack
        assert above, (call, spec.high, finite.max())


def test_every_operation_has_cases():
    """Those of the other families are tested one by one."""
    plain = {name for name, operation in OPERATIONS.items() if operation.family not in OTHER_FAMILIES}
    assert set(OPERATION_CASES) == plain


@pytest.mark.parametrize("name", sorted(OPERATION_CASES))
@fast
@given(data=st.data())
def test_rule(name, data):
    def run(ops, *args, **kwargs):
        return getattr(ops, name)(*args, **kwargs)

    operation = OPERATIONS[name]
    parameters = list(operation.signature.parameters)
    sized_by = parameters.index(operation.sized_by) if operation.sized_by else None
    check(data.draw(OPERATION_CASES[name].calls), run, sized_by)


@pytest.mark.parametrize("operator", sorted(OPERATORS))
@fast
@given(data=st.data())
def test_operator(operator, data):
    function, cases = OPERATORS[operator].function, OPERATORS[operator].cases
    check(data.draw(cases.calls), lambda _, *args: function(*args))


@pytest.mark.parametrize("name", sorted(OPERATION_CASES))
@fast
@given(data=st.data())
def test_what_is_no_view_shares_no_memory_on_numpy(name, data):
    call = concrete(data.draw(OPERATION_CASES[name].calls), SIZES[0], np.random.default_rng(0))
    with np.errstate(all="ignore"):
        results = getattr(NumpyOps("float32"), name)(*call.args, **call.kwargs)
    given = [item for value in call.args for item in (value if isinstance(value, list) else [value])]
    for result in results if isinstance(results, tuple) else [results]:
        shared = [np.shares_memory(result, value) for value in given if isinstance(value, np.ndarray)]
        assert not any(shared[1:] if OPERATIONS[name].view else shared), call


def test_smooth_cases_are_floats_in_the_domain():
    spec = TensorSpec((2,), "float32", 0, 0)
    call = smooth(Call([spec, [spec], TensorSpec((2,), "int64"), 1.0], {"axis": 0}), (0.5, 1.0))
    x, (y,), indices, scalar = concrete(call, {}, np.random.default_rng(0)).args
    assert (x.dtype, y.dtype, indices.dtype, scalar) == ("float64", "float64", "int64", 1.0)
    assert 0.5 <= min(x.min(), y.min()) < max(x.max(), y.max()) <= 1.0
    assert call.kwargs == {"axis": 0}


def test_tolerances_are_those_of_the_dtype():
    cases = OPERATION_CASES["exp"]
    assert cases.tolerance("float32") == cases.epsilons * 2.0**-23
    assert cases.tolerance(np.float64) == cases.epsilons * 2.0**-52
    assert cases.tolerance("int64") == 0.0


@st.composite
def slices(draw):
    """A tensor and a key of basic slicing; unknown sizes take slices that do not depend on them."""
    x = draw(tensors(ANY, max_rank=4))
    ends = st.none() | st.integers(-4, 4)
    keys = []
    for dim in x.shape[: draw(st.integers(0, len(x.shape)))]:
        if isinstance(dim, int):
            index = st.integers(-dim, dim - 1)
            keys.append(draw(index | st.builds(slice, ends, ends, st.none() | st.integers(1, 3))))
        else:
            start, stop = st.none() | st.integers(0, 1), st.none() | st.integers(-2, -1)
            ends_only = [0, -1, slice(0, 1), slice(None, 1), slice(-1, None)]
            keys.append(
                draw(st.sampled_from(ends_only) | st.builds(slice, start, stop, st.sampled_from([None, 1])))
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
    check(Call([x]), lambda _, tensor: tensor[key])


@fast
@given(st.data())
def test_ellipsis_stands_anywhere(data):
    x = data.draw(tensors(FLOATS, min_rank=2))
    check(Call([x]), lambda _, tensor: tensor[..., 0])
    check(Call([x]), lambda _, tensor: tensor[0, ...])
    check(Call([x]), lambda _, tensor: tensor[None, ..., None, 0])


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
