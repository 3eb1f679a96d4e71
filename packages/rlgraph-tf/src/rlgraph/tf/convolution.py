"""Convolution and pooling of TensorFlow images."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from rlgraph.core.ops.images import Pair, as_pair, resize_weights
from rlgraph.tf.shaping import Shaping

Tensor = Any


class Convolutions:
    """The operation family convolution."""

    @staticmethod
    def conv2d(x: Tensor, filters: Tensor, strides: Pair = 1, padding: str = "valid") -> Tensor:
        return tf.nn.conv2d(x, filters, as_pair(strides), padding.upper())

    @staticmethod
    def conv2d_transpose(x: Tensor, filters: Tensor, strides: Pair = 1, padding: str = "valid") -> Tensor:
        count, height, width, _ = Shaping.shape(x)
        (h, w), (down, right) = filters.shape[:2], as_pair(strides)
        if padding == "same":
            sizes = height * down, width * right
        else:
            sizes = (height - 1) * down + h, (width - 1) * right + w
        shape = [count, *sizes, Shaping.shape(filters)[2]]
        return tf.nn.conv2d_transpose(x, filters, shape, (down, right), padding.upper())

    @staticmethod
    def max_pool2d(x: Tensor, size: Pair, strides: Pair | None = None, padding: str = "valid") -> Tensor:
        steps = size if strides is None else strides
        return tf.nn.max_pool2d(x, as_pair(size), as_pair(steps), padding.upper())

    @staticmethod
    def avg_pool2d(x: Tensor, size: Pair, strides: Pair | None = None, padding: str = "valid") -> Tensor:
        steps = size if strides is None else strides
        return tf.nn.avg_pool2d(x, as_pair(size), as_pair(steps), padding.upper())

    @staticmethod
    def resize(x: Tensor, size: tuple[int, int], method: str = "bilinear") -> Tensor:
        height, width = as_pair(size)
        rows = tf.constant(resize_weights(method, x.shape[1], height), x.dtype)
        columns = tf.constant(resize_weights(method, x.shape[2], width), x.dtype)
        return tf.einsum("hH,nHWc,wW->nhwc", rows, x, columns)
