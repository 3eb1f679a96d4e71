"""Reductions and contractions of NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


class Reductions:
    """Operations that fold axes or work along one."""

    matmul = staticmethod(np.matmul)
    outer = staticmethod(np.outer)

    @staticmethod
    def mean(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        # The sum and a division are all there is to it; `np.mean` takes twice as long.
        total: Array = np.add.reduce(x, axis=axis, keepdims=keepdims)  # type: ignore[call-overload]
        return total / (x.size // (total.size or 1))

    @staticmethod
    def sum(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return np.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype)

    @staticmethod
    def prod(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return np.prod(x, axis=axis, keepdims=keepdims, dtype=x.dtype)

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
    def any(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return np.any(x, axis=axis, keepdims=keepdims)

    @staticmethod
    def count_nonzero(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return np.sum(x != 0, axis=axis, keepdims=keepdims, dtype=np.int64)

    @staticmethod
    def var(x: Array, axis: Any = None, keepdims: bool = False, correction: int = 0) -> Array:
        return np.var(x, axis=axis, keepdims=keepdims, ddof=correction)

    @staticmethod
    def std(x: Array, axis: Any = None, keepdims: bool = False, correction: int = 0) -> Array:
        return np.std(x, axis=axis, keepdims=keepdims, ddof=correction)

    @staticmethod
    def logsumexp(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        top = np.max(x, axis=axis, keepdims=True)
        shift = np.where(np.isfinite(top), top, 0).astype(x.dtype)
        total = np.log(np.sum(np.exp(x - shift), axis=axis, keepdims=True)) + shift
        return total if keepdims else np.squeeze(total, axis)

    @staticmethod
    def argmax(x: Array, axis: int) -> Array:
        return x.argmax(axis)

    @staticmethod
    def argmin(x: Array, axis: int) -> Array:
        return x.argmin(axis)

    @staticmethod
    def cumulative_sum(x: Array, axis: int) -> Array:
        return np.cumsum(x, axis, dtype=x.dtype)

    @staticmethod
    def cumulative_prod(x: Array, axis: int) -> Array:
        return np.cumprod(x, axis, dtype=x.dtype)

    @staticmethod
    def softmax(x: Array, axis: int = -1) -> Array:
        e = np.exp(x - np.max(x, axis=axis, keepdims=True))
        return e / np.sum(e, axis=axis, keepdims=True)

    @staticmethod
    def log_softmax(x: Array, axis: int = -1) -> Array:
        shifted = x - np.max(x, axis=axis, keepdims=True)
        return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))

    @staticmethod
    def layer_norm(
        x: Array, scale: Array | None = None, offset: Array | None = None, epsilon: float = 1e-5
    ) -> Array:
        centred = x - np.mean(x, axis=-1, keepdims=True)
        y = centred / np.sqrt(np.mean(centred * centred, axis=-1, keepdims=True) + epsilon)
        y = y if scale is None else y * scale
        return y if offset is None else y + offset

    @staticmethod
    def linear(x: Array, weights: Array, biases: Array | None = None) -> Array:
        y = x.dot(weights)  # for matrices the same as `@`, without its choice of a loop
        return y if biases is None else y + biases

    @staticmethod
    def vecdot(x: Array, y: Array, axis: int = -1) -> Array:
        return np.sum(x * y, axis=axis)

    @staticmethod
    def einsum(equation: str, *tensors: Array) -> Array:
        return np.einsum(equation, *tensors)
