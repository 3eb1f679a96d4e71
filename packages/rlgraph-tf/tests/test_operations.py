"""Every operation and operator of the contract against the reference on NumPy, over generated cases.

Each is traced with open sizes where the case has symbols, and with fixed sizes otherwise.
"""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.core.ops import SymbolicDim, TensorSpec
from rlgraph.testing.operations import OPERATION_CASES, OPERATORS, SIZES, concrete, smooth
from rlgraph.tf.ops import TfOps

# Tracing takes its time: few examples, and a failing one is not made smaller.
fast = settings(
    max_examples=5,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)
once = settings(fast, max_examples=3)
DIFFERENTIABLE = sorted(name for name, cases in OPERATION_CASES.items() if cases.differentiable)


def flat(value, kinds):
    if isinstance(value, list | tuple):
        return [item for inner in value for item in flat(inner, kinds)]
    return [value] if isinstance(value, kinds) else []


def placed(value, tensors, sizes):
    """`value` with `tensors` for its specs, and computed from `sizes` for its symbolic sizes."""
    if isinstance(value, list | tuple):
        return type(value)(placed(item, tensors, sizes) for item in value)
    if isinstance(value, TensorSpec):
        return next(tensors)
    return eval(repr(value), {}, sizes) if isinstance(value, SymbolicDim) else value


def traced(function, call, arrays, sizes):
    """The call as a traced program with open sizes: function of arrays."""
    names = sorted(sizes)

    def program(*inputs):
        tensors, numbers = iter(inputs[: -len(names)]), dict(zip(names, inputs[-len(names) :], strict=True))
        args = placed(call.args, tensors, numbers)
        kwargs = {key: placed(value, tensors, numbers) for key, value in call.kwargs.items()}
        return function(*args, **kwargs)

    specs = [
        tf.TensorSpec([None if isinstance(size, SymbolicDim) else size for size in spec.shape], spec.dtype)
        for spec in flat(call.args, TensorSpec)
    ]
    specs += [tf.TensorSpec([], tf.int32)] * len(names)
    compiled = tf.function(program, autograph=False).get_concrete_function(*specs)
    numbers = [tf.constant(sizes[name]) for name in names]
    return lambda *given: compiled(*map(tf.constant, given), *numbers)


def compare(given, expected, tolerance):
    if isinstance(expected, tuple):
        assert isinstance(given, tuple | list)
        for one, other in zip(given, expected, strict=True):
            compare(one, other, tolerance)
        return
    expected, given = np.asarray(expected), given.numpy()
    assert (np.shape(given), given.dtype) == (expected.shape, expected.dtype)
    bound = tolerance(expected.dtype)
    np.testing.assert_allclose(given, expected, rtol=bound, atol=bound)


def check(call, function, reference, tolerance):
    numbers = concrete(call, SIZES[0], np.random.default_rng(0))
    arrays = flat(numbers.args, np.ndarray)
    with np.errstate(all="ignore"):
        expected = reference(*numbers.args, **numbers.kwargs)
    compare(traced(function, call, arrays, SIZES[0])(*arrays), expected, tolerance)


@pytest.mark.parametrize("name", sorted(OPERATION_CASES))
@fast
@given(data=st.data())
def test_operation(name, data):
    cases = OPERATION_CASES[name]
    ours, reference = getattr(TfOps("float32"), name), getattr(NumpyOps("float32"), name)
    check(data.draw(cases.calls), ours, reference, cases.tolerance)


@pytest.mark.parametrize("operator", sorted(OPERATORS))
@fast
@given(data=st.data())
def test_operator(operator, data):
    function, cases = OPERATORS[operator].function, OPERATORS[operator].cases
    check(data.draw(cases.calls), function, function, cases.tolerance)


def weights(y):
    return tf.cos(tf.cast(tf.reshape(tf.range(tf.size(y)), tf.shape(y)), y.dtype))


@pytest.mark.parametrize("name", DIFFERENTIABLE)
@once
@given(data=st.data())
def test_derivative(name, data):
    """Along a random direction, what TensorFlow derives is what a difference quotient gives."""
    cases = OPERATION_CASES[name]
    call = smooth(data.draw(cases.calls), cases.domain)
    rng = np.random.default_rng(0)
    arrays = flat(concrete(call, SIZES[0], rng).args, np.ndarray)
    directions = {i: rng.normal(size=a.shape) for i, a in enumerate(arrays) if a.dtype.kind == "f"}

    def weighted(*args, **kwargs):
        """A sum of all float results, whose weights tell their elements apart."""
        results = flat(getattr(TfOps("float64"), name)(*args, **kwargs), tf.Tensor)
        floats = [result for result in results if result.dtype.is_floating]
        total = sum(tf.reduce_sum(y * weights(y)) for y in floats)
        inputs = [x for x in flat(args, tf.Tensor) if x.dtype.is_floating and x.shape.rank is not None]
        return (total, *map(tf.convert_to_tensor, tf.gradients(total, inputs))) if floats and inputs else ()

    run = traced(weighted, call, arrays, SIZES[0])
    outputs = run(*arrays)
    if not outputs:
        return

    def moved(step):
        return [a + step * directions[i] if i in directions else a for i, a in enumerate(arrays)]

    wanted = (run(*moved(1e-6))[0] - run(*moved(-1e-6))[0]).numpy() / 2e-6
    derived = sum(np.sum(g.numpy() * v) for g, v in zip(outputs[1:], directions.values(), strict=True))
    np.testing.assert_allclose(derived, wanted, rtol=1e-5, atol=1e-6)
