"""Every operation and operator of the contract against the reference on NumPy, over generated cases."""

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlgraph.core.numpy.ops import NumpyOps
from rlgraph.testing.operations import OPERATION_CASES, OPERATORS, SIZES, concrete, smooth
from rlgraph.torch.ops import TorchOps

fast = settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
once = settings(fast, max_examples=4)
DIFFERENTIABLE = sorted(name for name, cases in OPERATION_CASES.items() if cases.differentiable)


def to_torch(value):
    if isinstance(value, np.ndarray):
        return torch.tensor(value)
    return type(value)(map(to_torch, value)) if isinstance(value, list | tuple) else value


def compare(given, expected, tolerance):
    if isinstance(expected, tuple):
        assert isinstance(given, tuple)
        for one, other in zip(given, expected, strict=True):
            compare(one, other, tolerance)
        return
    expected = np.asarray(expected)
    assert isinstance(given, torch.Tensor)
    assert (tuple(given.shape), str(given.dtype)) == (expected.shape, f"torch.{expected.dtype}")
    bound = tolerance(expected.dtype)
    np.testing.assert_allclose(given.numpy(), expected, rtol=bound, atol=bound)


@pytest.mark.parametrize("name", sorted(OPERATION_CASES))
@fast
@given(data=st.data())
def test_operation(name, data):
    cases = OPERATION_CASES[name]
    call = concrete(data.draw(cases.calls), SIZES[0], np.random.default_rng(0))
    with np.errstate(all="ignore"):
        expected = getattr(NumpyOps("float32"), name)(*call.args, **call.kwargs)
    given = getattr(TorchOps("float32"), name)(*map(to_torch, call.args), **call.kwargs)
    compare(given, expected, cases.tolerance)


@pytest.mark.parametrize("operator", sorted(OPERATORS))
@fast
@given(data=st.data())
def test_operator(operator, data):
    function, cases = OPERATORS[operator].function, OPERATORS[operator].cases
    call = concrete(data.draw(cases.calls), SIZES[0], np.random.default_rng(0))
    with np.errstate(all="ignore"):
        expected = function(*call.args)
    compare(function(*map(to_torch, call.args)), expected, cases.tolerance)


def floats(value):
    """The tensors to differentiate by."""
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in floats(item)]
    return [value] if isinstance(value, torch.Tensor) and value.is_floating_point() else []


@pytest.mark.parametrize("name", DIFFERENTIABLE)
@once
@given(data=st.data())
def test_derivative(name, data):
    """What PyTorch derives is what difference quotients give."""
    cases = OPERATION_CASES[name]
    sizes = {"B": 3, "T": 4}
    call = concrete(smooth(data.draw(cases.calls), cases.domain), sizes, np.random.default_rng(0))
    arguments = [to_torch(value) for value in call.args]
    inputs = [tensor.requires_grad_() for tensor in floats(arguments)]

    def run(*_):
        result = getattr(TorchOps("float64"), name)(*arguments, **call.kwargs)
        return tuple(floats(result if isinstance(result, tuple) else [result]))

    if inputs and run() and all(output.requires_grad for output in run()):
        torch.autograd.gradcheck(run, inputs, atol=1e-6)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
@once
@given(data=st.data())
def test_derivatives_do_not_end_early(name, data):
    """A float result of differentiable operations depends on each float argument."""
    cases = OPERATION_CASES[name]
    call = concrete(smooth(data.draw(cases.calls), cases.domain), SIZES[0], np.random.default_rng(0))
    arguments = [to_torch(value) for value in call.args]
    inputs = [tensor.requires_grad_() for tensor in floats(arguments)]
    result = getattr(TorchOps("float64"), name)(*arguments, **call.kwargs)
    for output in floats(result if isinstance(result, tuple) else [result]):
        assert output.requires_grad == bool(inputs)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_long_recurrence_and_its_derivative(reverse, axis):
    """Factors of 0 cut it, whatever stands behind them."""
    rng = np.random.default_rng(0)
    x, d = rng.normal(size=(100, 3)), rng.uniform(0.5, 1.0, size=(100, 3)) * (rng.random((100, 3)) < 0.9)
    initial, weights = rng.normal(size=3), torch.tensor(rng.normal(size=(100, 3)))

    def loop(x, d, initial):
        rows, last = {}, initial
        for t in reversed(range(100)) if reverse else range(100):
            last = rows[t] = x[t] + d[t] * last
        return torch.stack([rows[t] for t in range(100)])

    def operation(x, d, initial):
        x, d = torch.moveaxis(x, 0, axis), torch.moveaxis(d, 0, axis)
        y = TorchOps.linear_recurrence(x, d, initial, reverse, axis)
        return torch.moveaxis(y, axis, 0)

    found = []
    for function in (loop, operation):
        leaves = [torch.tensor(array, requires_grad=True) for array in (x, d, initial)]
        y = function(*leaves)
        found.append((y.detach(), *torch.autograd.grad((y * weights).sum(), leaves)))
        found[-1] += (function(*[leaf.detach() for leaf in leaves]),)
    for expected, result in zip(*found, strict=True):
        torch.testing.assert_close(result, expected, rtol=1e-12, atol=1e-12)


def test_a_recurrence_of_nothing():
    assert TorchOps.linear_recurrence(torch.zeros(0, 2), 0.5).shape == (0, 2)
    assert TorchOps.linear_recurrence(torch.zeros(0, 2), 0.5, torch.ones(2)).shape == (0, 2)


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
