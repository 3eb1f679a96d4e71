"""The contract on PyTorch tensors: the native function where it conforms, else an adaption of two lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from rlgraph.torch.control import TorchControl
from rlgraph.torch.random import TorchRandom
from rlgraph.torch.state import TorchRows

DTYPES = {
    name: getattr(torch, name)
    for name in ("float16", "float32", "float64", "uint8", "int16", "int32", "int64", "bool")
}


class TorchOps(TorchRandom, TorchControl, TorchRows):
    """The `ops` namespace of the PyTorch backend.

    Args:
        float_dtype: the execution's floating dtype.
    """

    logical_and = staticmethod(torch.logical_and)
    logical_or = staticmethod(torch.logical_or)
    logical_not = staticmethod(torch.logical_not)
    exp = staticmethod(torch.exp)
    log = staticmethod(torch.log)
    sqrt = staticmethod(torch.sqrt)
    square = staticmethod(torch.square)
    abs = staticmethod(torch.abs)
    tanh = staticmethod(torch.tanh)
    sigmoid = staticmethod(torch.sigmoid)
    isfinite = staticmethod(torch.isfinite)
    where = staticmethod(torch.where)
    matmul = staticmethod(torch.matmul)
    relu = staticmethod(torch.relu)
    elu = staticmethod(torch.nn.functional.elu)
    softplus = staticmethod(torch.nn.functional.softplus)
    zeros_like = staticmethod(torch.zeros_like)
    ones_like = staticmethod(torch.ones_like)
    squeeze = staticmethod(torch.squeeze)
    expand_dims = staticmethod(torch.unsqueeze)
    reshape = staticmethod(torch.reshape)
    argmax = staticmethod(torch.argmax)
    concat = staticmethod(torch.cat)
    stack = staticmethod(torch.stack)
    stop_gradient = staticmethod(torch.detach)

    def __init__(self, float_dtype: str = "float32"):
        self.float_dtype = float_dtype

    def _dtype(self, dtype: str | None) -> torch.dtype:
        return DTYPES[self.float_dtype if dtype in (None, "float") else str(dtype)]

    @staticmethod
    def shape(x: Tensor) -> tuple[int, ...]:
        return tuple(x.shape)

    @staticmethod
    def maximum(x: Any, y: Any) -> Tensor:
        if not isinstance(y, Tensor):
            return torch.clamp_min(x, y)
        return torch.maximum(x, y) if isinstance(x, Tensor) else torch.clamp_min(y, x)

    @staticmethod
    def minimum(x: Any, y: Any) -> Tensor:
        if not isinstance(y, Tensor):
            return torch.clamp_max(x, y)
        return torch.minimum(x, y) if isinstance(x, Tensor) else torch.clamp_max(y, x)

    @staticmethod
    def clip(x: Tensor, low: float, high: float) -> Tensor:
        return torch.clamp(x, low, high)

    @staticmethod
    def broadcast_to(x: Tensor, shape: Sequence[int]) -> Tensor:
        return torch.broadcast_to(x, tuple(shape))

    @staticmethod
    def permute_dims(x: Tensor, axes: Sequence[int]) -> Tensor:
        return torch.permute(x, tuple(axes))

    def astype(self, x: Tensor, dtype: str) -> Tensor:
        return x.to(self._dtype(dtype))

    @staticmethod
    def mean(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
        return torch.mean(x) if axis is None and not keepdims else torch.mean(x, dim=axis, keepdim=keepdims)

    @staticmethod
    def sum(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
        return torch.sum(x, dim=axis, keepdim=keepdims, dtype=x.dtype)

    @staticmethod
    def max(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
        return torch.amax(x, dim=() if axis is None else axis, keepdim=keepdims)

    @staticmethod
    def min(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
        return torch.amin(x, dim=() if axis is None else axis, keepdim=keepdims)

    @staticmethod
    def all(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
        return torch.all(x) if axis is None and not keepdims else torch.all(x, dim=axis, keepdim=keepdims)

    @staticmethod
    def softmax(x: Tensor, axis: int = -1) -> Tensor:
        return torch.softmax(x, dim=axis)

    @staticmethod
    def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
        return torch.log_softmax(x, dim=axis)

    @staticmethod
    def linear(x: Tensor, weights: Tensor, biases: Tensor | None = None) -> Tensor:
        return torch.mm(x, weights) if biases is None else torch.addmm(biases, x, weights)

    @staticmethod
    def take(x: Tensor, indices: Tensor, axis: int = 0) -> Tensor:
        if indices.ndim == 1:
            return torch.index_select(x, axis, indices)
        axis %= x.ndim
        flat = torch.index_select(x, axis, indices.reshape(-1))
        return flat.reshape((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))

    @staticmethod
    def take_along_axis(x: Tensor, indices: Tensor, axis: int = -1) -> Tensor:
        return torch.gather(x, axis, indices if indices.dtype is torch.int64 else indices.long())

    def one_hot(self, indices: Tensor, depth: int, dtype: str | None = None) -> Tensor:
        return torch.nn.functional.one_hot(indices.long(), depth).to(self._dtype(dtype))

    def zeros(self, shape: Sequence[int], dtype: str | None = None) -> Tensor:
        return torch.zeros(tuple(shape), dtype=self._dtype(dtype))

    def ones(self, shape: Sequence[int], dtype: str | None = None) -> Tensor:
        return torch.ones(tuple(shape), dtype=self._dtype(dtype))

    # Variables are written through `detach`: a leaf that requires gradients refuses in-place writes while the
    # gradient is being recorded, and ".data" would hide the write from autograd's checks.

    @staticmethod
    def read(variable: Tensor) -> Tensor:
        return variable.clone()

    @staticmethod
    def assign(variable: Tensor, value: Any) -> None:
        if isinstance(value, Tensor):
            variable.detach().copy_(value.detach())
        else:
            variable.detach().fill_(value)

    @staticmethod
    def assign_add(variable: Tensor, value: Any) -> None:
        variable.detach().add_(value.detach() if isinstance(value, Tensor) else value)
