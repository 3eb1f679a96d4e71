"""Gather and sort operations on TensorFlow tensors."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from rlgraph.tf import derivatives
from rlgraph.tf.handles import VariableHandle
from rlgraph.tf.shaping import Shaping
from rlgraph.tf.state import take_rows

Tensor = Any


class Gathers:
    """The operation families gather and sorting."""

    @staticmethod
    def take(x: Tensor, indices: Tensor, axis: int = 0) -> Tensor:
        if isinstance(x, VariableHandle) and axis == 0 and not x.buffer.trainable:
            return take_rows(x, indices)
        return tf.gather(x, indices, axis=axis)

    @staticmethod
    def take_along_axis(x: Tensor, indices: Tensor, axis: int = -1) -> Tensor:
        x, indices = tf.convert_to_tensor(x), tf.convert_to_tensor(indices)
        rank = len(x.shape)
        last = rank - 1
        order = list(range(rank))
        order[axis], order[last] = last, axis % rank
        if order[last] == last:
            return derivatives.pick(x, indices)
        picked = derivatives.pick(tf.transpose(x, order), tf.transpose(indices, order))
        return tf.transpose(picked, order)

    @staticmethod
    def boolean_mask(x: Tensor, mask: Tensor) -> Tensor:
        return tf.boolean_mask(x, mask)

    @staticmethod
    def segment_sum(values: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
        return tf.math.unsorted_segment_sum(values, segment_ids, num_segments)

    @staticmethod
    def sort(x: Tensor, axis: int = -1, descending: bool = False) -> Tensor:
        return tf.sort(x, axis, _direction(descending))

    @staticmethod
    def argsort(x: Tensor, axis: int = -1, descending: bool = False) -> Tensor:
        return tf.cast(tf.argsort(x, axis, _direction(descending), stable=True), tf.int64)

    @staticmethod
    def top_k(x: Tensor, k: int, axis: int = -1) -> tuple[Tensor, Tensor]:
        last = Shaping.moveaxis(x, axis, -1)
        values, indices = tf.math.top_k(last, k)  # its derivative does not support int64 indices
        return Shaping.moveaxis(values, -1, axis), Shaping.moveaxis(tf.cast(indices, tf.int64), -1, axis)

    @staticmethod
    def searchsorted(x1: Tensor, x2: Tensor, side: str = "left") -> Tensor:
        found = tf.searchsorted(x1, tf.reshape(x2, [-1]), side, out_type=tf.int64)
        return tf.reshape(found, Shaping.shape(x2))


def _direction(descending: bool) -> str:
    return "DESCENDING" if descending else "ASCENDING"
