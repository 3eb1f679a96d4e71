"""Making and rearranging arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jax import Array, lax, nn
from jax import numpy as jnp


class Shaping:
    """The family shaping. Every size is known while a program is traced, so shapes are plain tuples."""

    reshape = staticmethod(jnp.reshape)
    expand_dims = staticmethod(jnp.expand_dims)
    squeeze = staticmethod(jnp.squeeze)
    permute_dims = staticmethod(jnp.permute_dims)
    moveaxis = staticmethod(jnp.moveaxis)
    broadcast_to = staticmethod(jnp.broadcast_to)
    concat = staticmethod(jnp.concatenate)
    stack = staticmethod(jnp.stack)
    flip = staticmethod(jnp.flip)
    roll = staticmethod(jnp.roll)
    repeat = staticmethod(jnp.repeat)
    tril = staticmethod(jnp.tril)
    triu = staticmethod(jnp.triu)

    @staticmethod
    def shape(x: Array) -> tuple[int, ...]:
        return tuple(x.shape)

    @staticmethod
    def flatten(x: Array, start_axis: int = 0) -> Array:
        return lax.collapse(x, start_axis % x.ndim)

    @staticmethod
    def split(x: Array, sizes: Sequence[int], axis: int = 0) -> tuple[Array, ...]:
        return tuple(lax.split(x, sizes, axis % x.ndim))

    @staticmethod
    def unstack(x: Array, axis: int = 0) -> tuple[Array, ...]:
        return jnp.unstack(x, axis=axis)

    @staticmethod
    def tile(x: Array, repetitions: Sequence[int]) -> Array:
        return jnp.tile(x, repetitions)

    @staticmethod
    def pad(x: Array, padding: Sequence[tuple[int, int]], value: float = 0) -> Array:
        return lax.pad(
            x,
            jnp.asarray(value, x.dtype),
            [(before, behind, 0) for before, behind in padding],
        )


class Creation:
    """The family creation, and what else is given a dtype. JAX's own default dtypes are never relied on."""

    zeros_like = staticmethod(jnp.zeros_like)
    ones_like = staticmethod(jnp.ones_like)

    def dtype(self, name: str | None) -> str:
        """The dtype of that name; None and ``"float"``: the execution's floating dtype."""
        raise NotImplementedError

    @staticmethod
    def full_like(x: Array, value: float) -> Array:
        return jnp.full_like(x, value)

    def astype(self, x: Array, dtype: str) -> Array:
        return jnp.asarray(x).astype(self.dtype(dtype))

    def one_hot(self, indices: Array, depth: int, dtype: str | None = None) -> Array:
        return nn.one_hot(indices, depth, dtype=self.dtype(dtype))

    def zeros(self, shape: Sequence[int], dtype: str | None = None) -> Array:
        return jnp.zeros(shape, self.dtype(dtype))

    def ones(self, shape: Sequence[int], dtype: str | None = None) -> Array:
        return jnp.ones(shape, self.dtype(dtype))

    def full(
        self, shape: Sequence[int], value: float, dtype: str | None = None
    ) -> Array:
        return jnp.full(shape, value, self.dtype(dtype))

    def eye(
        self, rows: int, columns: int | None = None, dtype: str | None = None
    ) -> Array:
        return jnp.eye(rows, columns, dtype=self.dtype(dtype))

    def arange(
        self, start: int, stop: int | None = None, step: int = 1, dtype: str = "int64"
    ) -> Array:
        first, end = (0, start) if stop is None else (start, stop)
        return jnp.arange(first, end, step, self.dtype(dtype))

    def linspace(
        self, start: float, stop: float, num: int, dtype: str | None = None
    ) -> Array:
        return jnp.asarray(np.linspace(start, stop, num), self.dtype(dtype))
