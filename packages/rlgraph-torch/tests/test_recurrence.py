"""The recurrence on few elements, which NumPy computes, and on many, which PyTorch does."""

import numpy as np
import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from rlgraph.torch import recurrence
from rlgraph.torch.ops import TorchOps


def arrays(dtype="float32", steps=7):
    rng = np.random.default_rng(0)
    return (torch.from_numpy(rng.normal(size=(steps, 3)).astype(dtype)) for _ in range(2))


def by_loop(x, d, reverse):
    y = np.zeros(x.shape, np.float64)
    following = np.zeros(x.shape[1])
    for t in range(len(x) - 1, -1, -1) if reverse else range(len(x)):
        following = y[t] = x[t].double().numpy() + d[t].double().numpy() * following
    return y


@pytest.fixture(params=[0, recurrence.SMALL], ids=["torch", "numpy"])
def small(request, monkeypatch):
    monkeypatch.setattr(recurrence, "SMALL", request.param)


@pytest.mark.parametrize("steps", [1, 2, 7, 8])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 2e-2), ("float32", 1e-5), ("float64", 1e-12)])
@pytest.mark.parametrize("reverse", [False, True])
def test_one_element_after_the_other(small, reverse, dtype, tolerance, steps):
    x, d = arrays(dtype, steps)
    given = TorchOps.linear_recurrence(x, d, reverse=reverse)
    assert given.dtype == x.dtype
    np.testing.assert_allclose(given, by_loop(x, d, reverse), rtol=tolerance, atol=tolerance)


def test_arguments_stay_as_they_are(small):
    x, d = arrays()
    before = x.clone(), d.clone()
    TorchOps.linear_recurrence(x, d, reverse=True)
    assert torch.equal(x, before[0])
    assert torch.equal(d, before[1])


def test_leaves_without_recording(small):
    x, d = (tensor.requires_grad_() for tensor in arrays())
    with torch.no_grad():
        given = TorchOps.linear_recurrence(x, d)
        np.testing.assert_allclose(given, by_loop(x, d, False), rtol=1e-5)
        TorchOps.linear_recurrence(x, d[:, :1])


@pytest.mark.parametrize("reverse", [False, True])
def test_derivatives(small, reverse):
    leaves = [tensor.requires_grad_() for tensor in arrays("float64")]
    assert torch.autograd.gradcheck(lambda x, d: TorchOps.linear_recurrence(x, d, reverse=reverse), leaves)


def test_what_is_traced_is_no_constant():
    x, d = arrays()

    def function(x, d):
        return TorchOps.linear_recurrence(x * 2.0, d, reverse=True)

    traced = make_fx(function, tracing_mode="fake")(x, d)
    np.testing.assert_allclose(traced(-x, 0.5 * d), function(-x, 0.5 * d), rtol=1e-5)

    def derivatives(x, d):
        return torch.autograd.grad(function(x, d).sum(), (x, d))

    traced = make_fx(derivatives, tracing_mode="fake")(x.requires_grad_(), d.requires_grad_())
    others = (-x).detach().requires_grad_(), (0.5 * d).detach().requires_grad_()
    for one, other in zip(traced(*others), derivatives(*others), strict=True):
        np.testing.assert_allclose(one.detach(), other, rtol=1e-5)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_long_recurrence_and_its_derivative(reverse, axis):
    """A factor of 0 cuts off all later values."""
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
