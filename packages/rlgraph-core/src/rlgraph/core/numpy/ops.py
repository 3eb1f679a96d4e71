"""The contract on NumPy arrays. Strictness is the build's business: the abstract evaluation has checked it before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlgraph.core.numpy.control import NumpyControl
from rlgraph.core.numpy.random import NumpyRandom
from rlgraph.core.numpy.state import NumpyRows

Array = Any


class NumpyOps(NumpyRandom, NumpyControl, NumpyRows):
    """The `ops` namespace of the NumPy backend.

    Args:
        float_dtype: the execution's floating dtype.
    """

    logical_and = staticmethod(np.logical_and)
    logical_or = staticmethod(np.logical_or)
    logical_not = staticmethod(np.logical_not)
    exp = staticmethod(np.exp)
    log = staticmethod(np.log)
    sqrt = staticmethod(np.sqrt)
    square = staticmethod(np.square)
    abs = staticmethod(np.abs)
    tanh = staticmethod(np.tanh)
    isfinite = staticmethod(np.isfinite)
    maximum = staticmethod(np.maximum)
    minimum = staticmethod(np.minimum)
    where = staticmethod(np.where)
    matmul = staticmethod(np.matmul)
    squeeze = staticmethod(np.squeeze)
    expand_dims = staticmethod(np.expand_dims)
    permute_dims = staticmethod(np.transpose)
    broadcast_to = staticmethod(np.broadcast_to)
    reshape = staticmethod(np.reshape)
    concat = staticmethod(np.concatenate)
    stack = staticmethod(np.stack)
    zeros_like = staticmethod(np.zeros_like)
    ones_like = staticmethod(np.ones_like)

    def __init__(self, float_dtype: str = "float32"):
        self.float_dtype = float_dtype

    def _dtype(self, dtype: str | None) -> str:
        return self.float_dtype if dtype in (None, "float") else str(dtype)

    @staticmethod
    def shape(x: Array) -> tuple[int, ...]:
        return tuple(x.shape)

    @staticmethod
    def sigmoid(x: Array) -> Array:
        return 0.5 * (np.tanh(0.5 * x) + 1.0)

    @staticmethod
    def clip(x: Array, low: float, high: float) -> Array:
        return np.clip(x, low, high)

    def astype(self, x: Array, dtype: str) -> Array:
        return np.asarray(x).astype(self._dtype(dtype), copy=False)

    @staticmethod
    def stop_gradient(x: Array) -> Array:
        return x

    @staticmethod
    def mean(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        # The sum and a division are all there is to it; `np.mean` takes twice as long.
        total: Array = np.add.reduce(x, axis=axis, keepdims=keepdims)  # type: ignore[call-overload]
        return total / (x.size // (total.size or 1))

    @staticmethod
    def sum(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return np.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype)

    @staticmethod
    def max(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return np.max(x, axis=axis, keepdims=keepdims)

    @staticmethod
    def min(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return np.min(x, axis=axis, keepdims=keepdims)

    @staticmethod
    def all(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return np.all(x, axis=axis, keepdims=keepdims)

    @staticmethod
    def argmax(x: Array, axis: int) -> Array:
        return x.argmax(axis)

    @staticmethod
    def softmax(x: Array, axis: int = -1) -> Array:
        e = np.exp(x - np.max(x, axis=axis, keepdims=True))
        return e / np.sum(e, axis=axis, keepdims=True)

    @staticmethod
    def log_softmax(x: Array, axis: int = -1) -> Array:
        shifted = x - np.max(x, axis=axis, keepdims=True)
        return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))

    @staticmethod
    def linear(x: Array, weights: Array, biases: Array | None = None) -> Array:
        y = x.dot(weights)  # for matrices the same as `@`, without its choice of a loop
        return y if biases is None else y + biases

    @staticmethod
    def take(x: Array, indices: Array, axis: int = 0) -> Array:
        return np.take(x, indices, axis=axis)

    @staticmethod
    def take_along_axis(x: Array, indices: Array, axis: int = -1) -> Array:
        return np.take_along_axis(x, indices, axis=axis)

    def one_hot(self, indices: Array, depth: int, dtype: str | None = None) -> Array:
        return np.eye(depth, dtype=self._dtype(dtype))[indices]

    def zeros(self, shape: Sequence[int], dtype: str | None = None) -> Array:
        return np.zeros(shape, self._dtype(dtype))

    def ones(self, shape: Sequence[int], dtype: str | None = None) -> Array:
        return np.ones(shape, self._dtype(dtype))

    @staticmethod
    def relu(x: Array) -> Array:
        return np.maximum(x, 0)

    @staticmethod
    def elu(x: Array) -> Array:
        return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))

    @staticmethod
    def softplus(x: Array) -> Array:
        return np.logaddexp(x, np.zeros_like(x))

    @staticmethod
    def read(variable: Array) -> Array:
        return variable.copy()

    @staticmethod
    def assign(variable: Array, value: Array) -> None:
        variable[...] = value

    @staticmethod
    def assign_add(variable: Array, value: Array) -> None:
        variable += value
