"""The hyperbolic tangent by NumPy against PyTorch's own."""

import pytest
import torch

from rlgraph.torch.tanh import tanh_


def of(x):
    return tanh_(x * 1.0)  # a result that may be overwritten


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_values_are_those_of_torch_and_in_place(dtype):
    x = torch.linspace(-20, 20, 999, dtype=dtype)
    expected, result = torch.tanh(x), tanh_(x)
    assert result is x
    torch.testing.assert_close(x, expected, rtol=4 * torch.finfo(dtype).eps, atol=0.0)


def test_first_and_second_derivatives():
    x = torch.linspace(-2, 2, 6, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(of, x)
    assert torch.autograd.gradgradcheck(of, x)


def test_without_derivatives_nothing_is_recorded():
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        assert not of(x).requires_grad
