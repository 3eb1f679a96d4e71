"""Shape operations on TensorFlow tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

Tensor = Any


class Shaping:
    """The operation family shaping."""

    @staticmethod
    def shape(x: Tensor) -> tuple[Any, ...]:
        """The sizes of `x`: integers where they are fixed, else int32 scalars."""
        sizes = x.shape.as_list()
        if None in sizes:
            dynamic = tf.shape(x)
            return tuple(dynamic[i] if size is None else size for i, size in enumerate(sizes))
        return tuple(sizes)

    @staticmethod
    def reshape(x: Tensor, shape: Sequence[Any]) -> Tensor:
        return tf.reshape(x, _simple(shape))

    @staticmethod
    def expand_dims(x: Tensor, axis: int) -> Tensor:
        return tf.expand_dims(x, axis)

    @staticmethod
    def squeeze(x: Tensor, axis: int) -> Tensor:
        return tf.squeeze(x, axis)

    @staticmethod
    def permute_dims(x: Tensor, axes: Sequence[int]) -> Tensor:
        rank = len(x.shape)
        return tf.transpose(x, [axis % rank for axis in axes])

    @staticmethod
    def broadcast_to(x: Tensor, shape: Sequence[Any]) -> Tensor:
        return tf.broadcast_to(x, tuple(shape))

    @staticmethod
    def concat(arrays: Sequence[Tensor], axis: int = 0) -> Tensor:
        return tf.concat(list(arrays), axis)

    @staticmethod
    def stack(arrays: Sequence[Tensor], axis: int = 0) -> Tensor:
        return tf.stack(list(arrays), axis)

    @staticmethod
    def moveaxis(x: Tensor, source: int, destination: int) -> Tensor:
        rank = len(x.shape)
        order = [axis for axis in range(rank) if axis != source % rank]
        order.insert(destination % rank, source % rank)
        return tf.transpose(x, order)

    @staticmethod
    def flatten(x: Tensor, start_axis: int = 0) -> Tensor:
        sizes, position = Shaping.shape(x), start_axis % len(x.shape)
        return tf.reshape(x, _simple((*sizes[:position], math.prod(sizes[position:]))))

    @staticmethod
    def split(x: Tensor, sizes: Sequence[Any], axis: int = 0) -> tuple[Tensor, ...]:
        return tuple(tf.split(x, list(sizes), axis))

    @staticmethod
    def unstack(x: Tensor, axis: int = 0) -> tuple[Tensor, ...]:
        return tuple(tf.unstack(x, axis=axis))

    @staticmethod
    def flip(x: Tensor, axis: Any = None) -> Tensor:
        axes = range(len(x.shape)) if axis is None else [axis] if isinstance(axis, int) else axis
        return tf.reverse(x, list(axes))

    @staticmethod
    def roll(x: Tensor, shift: int, axis: int) -> Tensor:
        return tf.roll(x, shift, axis)

    @staticmethod
    def tile(x: Tensor, repetitions: Sequence[Any]) -> Tensor:
        return tf.tile(x, list(repetitions)) if len(x.shape) else tf.identity(x)

    @staticmethod
    def repeat(x: Tensor, repeats: int, axis: int) -> Tensor:
        return tf.repeat(x, repeats, axis)

    @staticmethod
    def pad(x: Tensor, padding: Sequence[tuple[int, int]], value: float = 0) -> Tensor:
        value = tf.constant(bool(value) if x.dtype == tf.bool else value, x.dtype)
        return tf.pad(x, list(padding), constant_values=value) if len(x.shape) else tf.identity(x)

    @staticmethod
    def tril(x: Tensor, k: int = 0) -> Tensor:
        return tf.where(_below(x) <= k, x, tf.zeros([], x.dtype))

    @staticmethod
    def triu(x: Tensor, k: int = 0) -> Tensor:
        return tf.where(_below(x) >= k, x, tf.zeros([], x.dtype))


def _below(x: Tensor) -> Tensor:
    """``[M, N]``: the column minus the row of each element of ``x [..., M, N]``."""
    rows, columns = Shaping.shape(x)[-2:]
    return tf.range(columns) - tf.expand_dims(tf.range(rows), 1)


def _simple(shape: Sequence[Any]) -> tuple[Any, ...]:
    """`shape` with a single unknown size written as -1, which keeps the shape a constant of the program."""
    unknown = [i for i, size in enumerate(shape) if not isinstance(size, int)]
    fixed = [size for size in shape if isinstance(size, int)]
    if len(unknown) == 1 and all(size > 0 for size in fixed):
        return tuple(-1 if i == unknown[0] else size for i, size in enumerate(shape))
    return tuple(shape)
