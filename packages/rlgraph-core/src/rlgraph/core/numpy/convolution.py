"""Windows over images as NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.core.ops.images import Pair, as_pair, paddings, resize_weights, same_padding

Array = Any


def _windows(x: Array, size: tuple[int, int], strides: Pair, padding: str, value: float) -> Array:
    """``[N, H', W', C, h, w]``: the windows of the padded images, as a view."""
    down, right = as_pair(strides)
    vertical, horizontal = paddings(x.shape[1:3], size, (down, right), padding)
    padded = np.pad(x, ((0, 0), vertical, horizontal, (0, 0)), constant_values=value)
    return np.lib.stride_tricks.sliding_window_view(padded, size, axis=(1, 2))[:, ::down, ::right]


class Convolutions:
    """The family convolution."""

    @staticmethod
    def conv2d(x: Array, filters: Array, strides: Pair = 1, padding: str = "valid") -> Array:
        windows = _windows(x, filters.shape[:2], strides, padding, 0)
        return np.tensordot(windows, filters, axes=((3, 4, 5), (2, 0, 1)))

    @staticmethod
    def conv2d_transpose(x: Array, filters: Array, strides: Pair = 1, padding: str = "valid") -> Array:
        count, height, width, _ = x.shape
        (h, w), (down, right) = filters.shape[:2], as_pair(strides)
        whole = (height - 1) * down + max(h, down), (width - 1) * right + max(w, right)
        result = np.zeros((count, *whole, filters.shape[2]), x.dtype)
        for i in range(h):
            for j in range(w):
                rows = slice(i, i + height * down, down)
                columns = slice(j, j + width * right, right)
                result[:, rows, columns][:, :height, :width] += x @ filters[i, j].T
        if padding == "same":
            top, left = same_padding(height * down, h, down)[0], same_padding(width * right, w, right)[0]
            return result[:, top : top + height * down, left : left + width * right]
        return result[:, : (height - 1) * down + h, : (width - 1) * right + w]

    @staticmethod
    def max_pool2d(x: Array, size: Pair, strides: Pair | None = None, padding: str = "valid") -> Array:
        windows = _windows(x, as_pair(size), size if strides is None else strides, padding, -np.inf)
        return np.max(windows, axis=(4, 5))

    @staticmethod
    def avg_pool2d(x: Array, size: Pair, strides: Pair | None = None, padding: str = "valid") -> Array:
        steps = size if strides is None else strides
        sums = np.sum(_windows(x, as_pair(size), steps, padding, 0), axis=(4, 5))
        ones = np.ones((1, *x.shape[1:3], 1), x.dtype)
        return sums / np.sum(_windows(ones, as_pair(size), steps, padding, 0), axis=(4, 5))

    @staticmethod
    def resize(x: Array, size: tuple[int, int], method: str = "bilinear") -> Array:
        height, width = as_pair(size)
        rows = resize_weights(method, x.shape[1], height).astype(x.dtype)
        columns = resize_weights(method, x.shape[2], width).astype(x.dtype)
        return np.einsum("hH,nHWc,wW->nhwc", rows, x, columns, optimize=True)
