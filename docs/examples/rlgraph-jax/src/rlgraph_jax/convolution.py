"""Windows over images ``[N, H, W, C]``."""

from __future__ import annotations

from typing import Any

import jax
from jax import Array, lax
from jax import numpy as jnp

from rlgraph.core.ops import as_pair, resize_weights

#: One number for height and width, or one for each.
Pair = int | tuple[int, int]

_LAYOUT = ("NHWC", "HWIO", "NHWC")


class Convolution:
    """The family convolution."""

    @staticmethod
    def conv2d(
        x: Array, filters: Array, strides: Pair = 1, padding: str = "valid"
    ) -> Array:
        steps = as_pair(strides)
        return lax.conv_general_dilated(
            x, filters, steps, padding.upper(), dimension_numbers=_LAYOUT
        )

    @staticmethod
    def conv2d_transpose(
        x: Array, filters: Array, strides: Pair = 1, padding: str = "valid"
    ) -> Array:
        """The derivative of a `conv2d` by its images, which is what the contract calls it."""
        (count, height, width, _), (h, w), (down, right) = (
            x.shape,
            filters.shape[:2],
            as_pair(strides),
        )
        grown = (height * down, width * right)
        if padding == "valid":
            grown = ((height - 1) * down + h, (width - 1) * right + w)
        images = jnp.zeros((count, *grown, filters.shape[2]), x.dtype)
        _, back = jax.vjp(
            lambda images: Convolution.conv2d(images, filters, strides, padding), images
        )
        return back(x)[0]

    @staticmethod
    def max_pool2d(
        x: Array, size: Pair, strides: Pair | None = None, padding: str = "valid"
    ) -> Array:
        return _pool(x, -jnp.inf, lax.max, size, strides, padding)

    @staticmethod
    def avg_pool2d(
        x: Array, size: Pair, strides: Pair | None = None, padding: str = "valid"
    ) -> Array:
        sums, counts = (
            _pool(y, 0.0, lax.add, size, strides, padding)
            for y in (x, jnp.ones_like(x))
        )
        return sums / counts

    @staticmethod
    def resize(x: Array, size: tuple[int, int], method: str = "bilinear") -> Array:
        height, width = as_pair(size)
        rows = jnp.asarray(resize_weights(method, x.shape[1], height), x.dtype)
        columns = jnp.asarray(resize_weights(method, x.shape[2], width), x.dtype)
        return jnp.einsum("hH,nHWc,wW->nhwc", rows, x, columns)


def _pool(
    x: Array, start: float, fold: Any, size: Pair, strides: Pair | None, padding: str
) -> Array:
    window, steps = as_pair(size), as_pair(size if strides is None else strides)
    return lax.reduce_window(
        x, start, fold, (1, *window, 1), (1, *steps, 1), padding.upper()
    )
