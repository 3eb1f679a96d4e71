"""The hyperbolic tangent in place, by NumPy on the CPU: there it takes a tenth of the time of PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

#: The operation without the search for its overload.
tanh_backward: Any = torch.ops.aten.tanh_backward.default


def tanh_(x: Tensor) -> Tensor:
    """`torch.tanh_`."""
    if x.device.type != "cpu" or type(x) is not Tensor or x.dtype.itemsize < 4:
        return torch.tanh_(x)
    if x.requires_grad and torch.is_grad_enabled():
        result: Tensor = _Tanh.apply(x)
        return result
    array = x.detach().numpy()
    np.tanh(array, array)
    return x


class _Tanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        array = x.detach().numpy()
        np.tanh(array, array)
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (y,) = ctx.saved_tensors
        by_x: Tensor = tanh_backward(gradients[0], y)
        return by_x
