"""Picking and sorting elements of TensorFlow tensors, and the linear recurrence."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from rlgraph.tf import derivatives
from rlgraph.tf.handles import VariableHandle
from rlgraph.tf.shaping import Shaping
from rlgraph.tf.state import take_rows

Tensor = Any


class Gathers:
    """The families gather, sorting and recurrence."""

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
        values, indices = tf.math.top_k(last, k)  # its derivative takes no int64 indices
        return Shaping.moveaxis(values, -1, axis), Shaping.moveaxis(tf.cast(indices, tf.int64), -1, axis)

    @staticmethod
    def searchsorted(x1: Tensor, x2: Tensor, side: str = "left") -> Tensor:
        found = tf.searchsorted(x1, tf.reshape(x2, [-1]), side, out_type=tf.int64)
        return tf.reshape(found, Shaping.shape(x2))

    @staticmethod
    def linear_recurrence(
        x: Tensor, d: Any, initial: Tensor | None = None, reverse: bool = False, axis: int = 0
    ) -> Tensor:
        x = tf.convert_to_tensor(x)
        d = tf.broadcast_to(tf.convert_to_tensor(d, x.dtype), Shaping.shape(x))
        x, d = Shaping.moveaxis(x, axis, 0), Shaping.moveaxis(d, axis, 0)
        if not reverse:
            x, d = x[::-1], d[::-1]
        if initial is not None:
            x = tf.concat([x[:-1], x[-1:] + d[-1:] * initial], 0)
        y = _scanned(x, d) if x.shape[0] is None else _doubled(x, d, x.shape[0])
        return Shaping.moveaxis(y if reverse else y[::-1], 0, axis)


def _direction(descending: bool) -> str:
    return "DESCENDING" if descending else "ASCENDING"


def _doubled(y: Tensor, d: Tensor, length: int) -> Tensor:
    """``y_t + d_t * y_{t+1}``, by doubling the reach of each element: log2(T) operations on all of them."""
    reach = 1
    while reach < length:
        y = tf.concat([y[:-reach] + d[:-reach] * y[reach:], y[-reach:]], 0)
        d = tf.concat([d[:-reach] * d[reach:], d[-reach:]], 0)
        reach *= 2
    return y


def _scanned(x: Tensor, d: Tensor) -> Tensor:
    """The same where the length is open."""

    def step(y: Tensor, now: tuple[Tensor, Tensor]) -> Tensor:
        return now[0] + now[1] * y

    y = tf.scan(step, (x, d), tf.zeros(Shaping.shape(x)[1:], x.dtype), reverse=True)
    return tf.ensure_shape(y, x.shape)
