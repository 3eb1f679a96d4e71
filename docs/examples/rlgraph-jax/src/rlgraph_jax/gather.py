"""Picking and sorting elements, and the linear recurrence."""

from __future__ import annotations

from typing import Any

import jax
from jax import Array, lax
from jax import numpy as jnp

from rlgraph_jax.control import scan_rows


class Gather:
    """The families gather, sorting and recurrence. JAX counts with 32 bits where it can, the contract with 64."""

    take_along_axis = staticmethod(jnp.take_along_axis)
    segment_sum = staticmethod(jax.ops.segment_sum)

    @staticmethod
    def take(x: Array, indices: Array, axis: int = 0) -> Array:
        return jnp.take(x, indices, axis)

    @staticmethod
    def boolean_mask(x: Array, mask: Array) -> Array:
        return x[mask]

    @staticmethod
    def sort(x: Array, axis: int = -1, descending: bool = False) -> Array:
        return jnp.sort(x, axis, descending=descending)

    @staticmethod
    def argsort(x: Array, axis: int = -1, descending: bool = False) -> Array:
        return jnp.argsort(x, axis, stable=True, descending=descending).astype(
            jnp.int64
        )

    @staticmethod
    def top_k(x: Array, k: int, axis: int = -1) -> tuple[Array, Array]:
        values, indices = lax.top_k(x, k, axis=axis)
        return values, indices.astype(jnp.int64)

    @staticmethod
    def searchsorted(x1: Array, x2: Array, side: str = "left") -> Array:
        return jnp.searchsorted(x1, x2, side).astype(jnp.int64)

    @staticmethod
    def linear_recurrence(
        x: Array,
        d: Any,
        initial: Array | None = None,
        reverse: bool = False,
        axis: int = 0,
    ) -> Array:
        def step(last: Array, row: tuple[Array, Array]) -> tuple[Array, Array]:
            y = row[0] + row[1] * last
            return y, y

        rows = jnp.moveaxis(x, axis, 0)
        weights = jnp.moveaxis(
            jnp.broadcast_to(jnp.asarray(d, x.dtype), x.shape), axis, 0
        )
        first = jnp.zeros(rows.shape[1:], x.dtype) if initial is None else initial
        _, ys = scan_rows(step, first, (rows, weights), reverse)
        return jnp.moveaxis(ys, 0, axis)
