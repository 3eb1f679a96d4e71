"""Reductions and contractions of NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any

# `np.sum` and its like are Python functions around these, which take longer than small arrays do.
# Their arguments by position: x, axis, dtype, out, keepdims.
_add: Any = np.add.reduce
_multiply: Any = np.multiply.reduce
_maximum: Any = np.maximum.reduce
_minimum: Any = np.minimum.reduce
_and: Any = np.logical_and.reduce
_or: Any = np.logical_or.reduce


class Reductions:
    """Operations that fold axes or work along one."""

    matmul = staticmethod(np.matmul)
    outer = staticmethod(np.outer)

    @staticmethod
    def mean(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        total: Array = _add(x, axis, None, None, keepdims)
        return total / (x.size // (total.size or 1))

    @staticmethod
    def sum(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return _add(x, axis, x.dtype, None, keepdims)

    @staticmethod
    def prod(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return _multiply(x, axis, x.dtype, None, keepdims)

    @staticmethod
    def max(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return _maximum(x, axis, None, None, keepdims)

    @staticmethod
    def min(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return _minimum(x, axis, None, None, keepdims)

    @staticmethod
    def all(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return _and(x, axis, None, None, keepdims)

    @staticmethod
    def any(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return _or(x, axis, None, None, keepdims)

    @staticmethod
    def count_nonzero(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return _add(x != 0, axis, np.int64, None, keepdims)

    @staticmethod
    def var(x: Array, axis: Any = None, keepdims: bool = False, correction: int = 0) -> Array:
        return np.var(x, axis=axis, keepdims=keepdims, ddof=correction)

    @staticmethod
    def std(x: Array, axis: Any = None, keepdims: bool = False, correction: int = 0) -> Array:
        return np.std(x, axis=axis, keepdims=keepdims, ddof=correction)

    @staticmethod
    def logsumexp(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        top = _maximum(x, axis, None, None, True)
        shift = np.where(np.isfinite(top), top, 0).astype(x.dtype)
        total = np.log(_add(np.exp(x - shift), axis, None, None, True)) + shift
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
        e = np.exp(x - _maximum(x, axis, None, None, True))
        return e / _add(e, axis, None, None, True)

    @staticmethod
    def log_softmax(x: Array, axis: int = -1) -> Array:
        shifted = x - _maximum(x, axis, None, None, True)
        return shifted - np.log(_add(np.exp(shifted), axis, None, None, True))

    @staticmethod
    def layer_norm(
        x: Array, scale: Array | None = None, offset: Array | None = None, epsilon: float = 1e-5
    ) -> Array:
        centred = x - Reductions.mean(x, -1, True)
        y = centred / np.sqrt(Reductions.mean(centred * centred, -1, True) + epsilon)
        y = y if scale is None else y * scale
        return y if offset is None else y + offset

    @staticmethod
    def linear(x: Array, weights: Array, biases: Array | None = None) -> Array:
        y = x.dot(weights)  # for matrices the same as `@`, without its choice of a loop
        return y if biases is None else y + biases

    @staticmethod
    def vecdot(x: Array, y: Array, axis: int = -1) -> Array:
        return _add(x * y, axis)

    @staticmethod
    def einsum(equation: str, *tensors: Array) -> Array:
        return np.einsum(equation, *tensors)
