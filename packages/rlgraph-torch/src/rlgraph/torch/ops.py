"""The operations on PyTorch tensors: native functions, adapted where they differ from the contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from rlgraph.core.ops.native import native
from rlgraph.torch.control import TorchControl
from rlgraph.torch.convolution import Convolutions
from rlgraph.torch.gather import Gathers
from rlgraph.torch.random import TorchRandom
from rlgraph.torch.recurrence import Recurrence
from rlgraph.torch.shaping import Shaping
from rlgraph.torch.state import TorchRows

DTYPES = {
    name: getattr(torch, name)
    for name in ("float16", "float32", "float64", "uint8", "int16", "int32", "int64", "bool")
}


class TorchOps(Convolutions, Gathers, Recurrence, Shaping, TorchRandom, TorchControl, TorchRows):
    """The `ops` namespace of the PyTorch backend.

    Args:
        float_dtype: the execution's floating dtype.

    Attributes:
        device: the device of new tensors; None: PyTorch's default, the CPU.
    """

    device: torch.device | None = None

    vars().update(
        native(
            torch,
            "logical_and logical_or logical_xor logical_not isfinite isnan isinf where argmax argmin",
            "sign floor ceil round trunc reciprocal abs sqrt square exp expm1 log log1p erf lgamma digamma",
            "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh",
            "matmul outer zeros_like ones_like sigmoid relu",
            stop_gradient="detach",
        ),
        **native(torch.nn.functional, "elu selu gelu silu softplus softsign", log_sigmoid="logsigmoid"),
    )

    def __init__(self, float_dtype: str = "float32"):
        self.float_dtype = float_dtype

    def _dtype(self, dtype: str | None) -> torch.dtype:
        if isinstance(dtype, torch.dtype):
            return dtype  # that of a tensor
        return DTYPES[self.float_dtype if dtype in (None, "float") else str(dtype)]

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
    def atan2(x: Any, y: Any) -> Tensor:
        return torch.atan2(*_pair(x, y))

    @staticmethod
    def logaddexp(x: Any, y: Any) -> Tensor:
        return torch.logaddexp(*_pair(x, y))

    @staticmethod
    def clip(x: Tensor, low: float, high: float) -> Tensor:
        return torch.clamp(x, low, high)

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
    def any(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
        return torch.any(x) if axis is None and not keepdims else torch.any(x, dim=axis, keepdim=keepdims)

    @staticmethod
    def count_nonzero(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
        return torch.sum(x != 0, dim=axis, keepdim=keepdims)

    @staticmethod
    def prod(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
        for position in sorted((a % x.ndim for a in _axes(x, axis)), reverse=True):
            x = torch.prod(x, dim=position, keepdim=keepdims, dtype=x.dtype)
        return x

    @staticmethod
    def var(x: Tensor, axis: Any = None, keepdims: bool = False, correction: int = 0) -> Tensor:
        return torch.var(x, dim=axis, keepdim=keepdims, correction=correction)

    @staticmethod
    def std(x: Tensor, axis: Any = None, keepdims: bool = False, correction: int = 0) -> Tensor:
        return torch.std(x, dim=axis, keepdim=keepdims, correction=correction)

    @staticmethod
    def logsumexp(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
        return torch.logsumexp(x, dim=_axes(x, axis), keepdim=keepdims)

    @staticmethod
    def cumulative_sum(x: Tensor, axis: int) -> Tensor:
        return torch.cumsum(x, dim=axis, dtype=x.dtype)

    @staticmethod
    def cumulative_prod(x: Tensor, axis: int) -> Tensor:
        return torch.cumprod(x, dim=axis, dtype=x.dtype)

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
    def layer_norm(
        x: Tensor, scale: Tensor | None = None, offset: Tensor | None = None, epsilon: float = 1e-5
    ) -> Tensor:
        return torch.nn.functional.layer_norm(x, x.shape[-1:], scale, offset, epsilon)

    @staticmethod
    def einsum(equation: str, *tensors: Tensor) -> Tensor:
        return torch.einsum(equation, *tensors)

    @staticmethod
    def vecdot(x: Tensor, y: Tensor, axis: int = -1) -> Tensor:
        return torch.linalg.vecdot(x, y, dim=axis)

    @staticmethod
    def leaky_relu(x: Tensor, slope: float = 0.01) -> Tensor:
        return torch.nn.functional.leaky_relu(x, slope)

    def one_hot(self, indices: Tensor, depth: int, dtype: str | None = None) -> Tensor:
        return torch.nn.functional.one_hot(indices.long(), depth).to(self._dtype(dtype))

    def zeros(self, shape: Sequence[int], dtype: str | None = None) -> Tensor:
        return torch.zeros(tuple(shape), dtype=self._dtype(dtype), device=self.device)

    def ones(self, shape: Sequence[int], dtype: str | None = None) -> Tensor:
        return torch.ones(tuple(shape), dtype=self._dtype(dtype), device=self.device)

    def full(self, shape: Sequence[int], value: float, dtype: str | None = None) -> Tensor:
        return torch.full(tuple(shape), value, dtype=self._dtype(dtype), device=self.device)

    @staticmethod
    def full_like(x: Tensor, value: float) -> Tensor:
        return torch.full_like(x, value)

    def eye(self, rows: int, columns: int | None = None, dtype: str | None = None) -> Tensor:
        return torch.eye(
            rows, rows if columns is None else columns, dtype=self._dtype(dtype), device=self.device
        )

    def arange(self, start: int, stop: int | None = None, step: int = 1, dtype: str = "int64") -> Tensor:
        first, end = (0, start) if stop is None else (start, stop)
        end = end if (end - first) * step > 0 else first  # torch refuses an empty range, NumPy returns one
        return torch.arange(first, end, step, dtype=self._dtype(dtype), device=self.device)

    def linspace(self, start: float, stop: float, num: int, dtype: str | None = None) -> Tensor:
        return torch.linspace(start, stop, num, dtype=self._dtype(dtype), device=self.device)

    # Variables are written through `detach`: leaves that require gradients refuse in-place writes while gradients are
    # recorded, and ".data" would hide the write from autograd's checks.

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


def _axes(x: Tensor, axis: Any) -> tuple[int, ...]:
    return tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)


def _pair(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Both as tensors; a Python number takes the other's dtype. It is made where it is needed, not copied there."""
    if not isinstance(x, Tensor):
        return torch.full((), x, dtype=y.dtype, device=y.device), y
    if not isinstance(y, Tensor):
        y = torch.full((), y, dtype=x.dtype, device=x.device)
    return x, y
