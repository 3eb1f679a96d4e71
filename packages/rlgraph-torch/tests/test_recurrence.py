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
