"""Rearranging and making NumPy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = Any


class Shaping:
    """The family shaping."""

    permute_dims = staticmethod(np.transpose)
    moveaxis = staticmethod(np.moveaxis)
    broadcast_to = staticmethod(np.broadcast_to)
    concat = staticmethod(np.concatenate)
    stack = staticmethod(np.stack)
    flip = staticmethod(np.flip)
    roll = staticmethod(np.roll)
    repeat = staticmethod(np.repeat)
    tril = staticmethod(np.tril)
    triu = staticmethod(np.triu)

    # Methods of the array, where NumPy's functions take three to twenty times as long for the same view.

    @staticmethod
    def squeeze(x: Array, axis: Any) -> Array:
        return x.squeeze(axis)

    @staticmethod
    def expand_dims(x: Array, axis: int) -> Array:
        return x[..., np.newaxis] if axis == -1 else np.expand_dims(x, axis)

    @staticmethod
    def reshape(x: Array, shape: Sequence[int]) -> Array:
        return x.reshape(shape)

    @staticmethod
    def shape(x: Array) -> tuple[int, ...]:
        return tuple(x.shape)

    @staticmethod
    def flatten(x: Array, start_axis: int = 0) -> Array:
        kept = x.shape[: start_axis % x.ndim]
        return np.reshape(x, (*kept, int(np.prod(x.shape[len(kept) :]))))

    @staticmethod
    def split(x: Array, sizes: Sequence[int], axis: int = 0) -> tuple[Array, ...]:
        return tuple(np.split(x, np.cumsum(sizes)[:-1], axis))

    @staticmethod
    def unstack(x: Array, axis: int = 0) -> tuple[Array, ...]:
        front = np.moveaxis(x, axis, 0)
        return tuple(front[i, ...] for i in range(len(front)))

    @staticmethod
    def tile(x: Array, repetitions: Sequence[int]) -> Array:
        return np.tile(x, repetitions)

    @staticmethod
    def pad(x: Array, padding: Sequence[tuple[int, int]], value: float = 0) -> Array:
        return np.pad(x, padding, constant_values=value) if x.ndim else x.copy()


class Creation:
    """The family creation, and other operations with a dtype argument.

    Args:
        float_dtype: the execution's floating dtype.
    """

    zeros_like = staticmethod(np.zeros_like)
    ones_like = staticmethod(np.ones_like)

    def __init__(self, float_dtype: str = "float32"):
        self.float_dtype = float_dtype

    def _dtype(self, dtype: str | None) -> str:
        return self.float_dtype if dtype in (None, "float") else str(dtype)

    @staticmethod
    def full_like(x: Array, value: float) -> Array:
        return np.full_like(x, value)

    def astype(self, x: Array, dtype: str) -> Array:
        return np.asarray(x).astype(self._dtype(dtype), copy=False)

    def one_hot(self, indices: Array, depth: int, dtype: str | None = None) -> Array:
        return np.eye(depth, dtype=self._dtype(dtype))[indices]

    def zeros(self, shape: Sequence[int], dtype: str | None = None) -> Array:
        return np.zeros(shape, self._dtype(dtype))

    def ones(self, shape: Sequence[int], dtype: str | None = None) -> Array:
        return np.ones(shape, self._dtype(dtype))

    def full(self, shape: Sequence[int], value: float, dtype: str | None = None) -> Array:
        return np.full(shape, value, self._dtype(dtype))

    def eye(self, rows: int, columns: int | None = None, dtype: str | None = None) -> Array:
        return np.eye(rows, columns, dtype=self._dtype(dtype))

    def arange(self, start: int, stop: int | None = None, step: int = 1, dtype: str = "int64") -> Array:
        first, end = (0, start) if stop is None else (start, stop)
        return np.arange(first, end, step, dtype=self._dtype(dtype))

    def linspace(self, start: float, stop: float, num: int, dtype: str | None = None) -> Array:
        return np.linspace(start, stop, num, dtype=self._dtype(dtype))
