"""Convolution and pooling of TensorFlow images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from rlgraph.core.ops.images import Pair, as_pair, resize_weights
from rlgraph.tf.shaping import Shaping

Tensor = Any

#: One row more behind those of a batch of images.
_ROW = ((0, 1), (0, 0), (0, 0), (0, 0))


def _by_rows(operation: Callable[..., Tensor], x: Tensor, **options: Any) -> Tensor:
    """`operation`, which treats each image of ``x [B, H, W, C]`` by itself; where there is none, of one with zeros.

    By oneDNN, which TensorFlow 2.21 uses on processors with AVX-512 VNNI, a convolution of no image has the shape of
    its input, and the derivative of an average pool ends the process.
    """
    if x.shape[0]:
        return operation(x, **options)
    count = tf.shape(x)[0]
    some = tf.pad(x, tf.cast(count < 1, tf.int32) * _ROW)
    some.set_shape((None, *x.shape[1:]))
    return operation(some, **options)[:count]


class Convolutions:
    """The operation family convolution."""

    @staticmethod
    def conv2d(x: Tensor, filters: Tensor, strides: Pair = 1, padding: str = "valid") -> Tensor:
        return _by_rows(tf.nn.conv2d, x, filters=filters, strides=as_pair(strides), padding=padding.upper())

    @staticmethod
    def conv2d_transpose(x: Tensor, filters: Tensor, strides: Pair = 1, padding: str = "valid") -> Tensor:
        _, height, width, _ = Shaping.shape(x)
        (h, w), (down, right) = filters.shape[:2], as_pair(strides)
        if padding == "same":
            sizes = height * down, width * right
        else:
            sizes = (height - 1) * down + h, (width - 1) * right + w

        def transposed(some: Tensor) -> Tensor:
            shape = [Shaping.shape(some)[0], *sizes, Shaping.shape(filters)[2]]
            return tf.nn.conv2d_transpose(some, filters, shape, (down, right), padding.upper())

        return _by_rows(transposed, x)

    @staticmethod
    def max_pool2d(x: Tensor, size: Pair, strides: Pair | None = None, padding: str = "valid") -> Tensor:
        steps = size if strides is None else strides
        return _by_rows(
            tf.nn.max_pool2d, x, ksize=as_pair(size), strides=as_pair(steps), padding=padding.upper()
        )

    @staticmethod
    def avg_pool2d(x: Tensor, size: Pair, strides: Pair | None = None, padding: str = "valid") -> Tensor:
        steps = size if strides is None else strides
        return _by_rows(
            tf.nn.avg_pool2d, x, ksize=as_pair(size), strides=as_pair(steps), padding=padding.upper()
        )

    @staticmethod
    def resize(x: Tensor, size: tuple[int, int], method: str = "bilinear") -> Tensor:
        height, width = as_pair(size)
        rows = tf.constant(resize_weights(method, x.shape[1], height), x.dtype)
        columns = tf.constant(resize_weights(method, x.shape[2], width), x.dtype)
        return tf.einsum("hH,nHWc,wW->nhwc", rows, x, columns)
