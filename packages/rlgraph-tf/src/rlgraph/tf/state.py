"""Rows of variables on TensorFlow: reads and writes in place, without touching the rest of the group."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from rlgraph.tf.handles import VariableHandle

Tensor = Any


class TfRows:
    """The operations that write rows of a variable (see `rlgraph.core.ops.state`); part of `TfOps`."""

    @staticmethod
    def scatter_update(variable: VariableHandle, indices: Tensor, values: Tensor) -> None:
        _scatter(tf.raw_ops.ResourceScatterUpdate, variable, indices, values)

    @staticmethod
    def scatter_add(variable: VariableHandle, indices: Tensor, values: Tensor) -> None:
        _scatter(tf.raw_ops.ResourceScatterAdd, variable, indices, values)


def take_rows(variable: VariableHandle, indices: Tensor) -> Tensor:
    """The rows ``[..., *row]`` at ``indices [...]``. No derivative goes through it."""
    return variable.state.elements(variable.group, _places(variable, indices))


def _scatter(operation: Any, variable: VariableHandle, indices: Tensor, values: Tensor) -> None:
    places = _places(variable, indices)
    updates = tf.reshape(tf.convert_to_tensor(values), tf.shape(places))
    with variable.state.beside(variable.group):
        operation(resource=variable.buffer.handle, indices=places, updates=updates)
    variable.state.written(variable)


def _places(variable: VariableHandle, indices: Tensor) -> Tensor:
    """The positions in the group's buffer of the rows at ``indices [...]``: [..., *row]."""
    row = variable.shape[1:]
    size = row.num_elements()
    indices = tf.cast(indices, tf.int64)
    first = indices * size + variable.start
    if not variable.is_whole:
        # An index out of range must not reach other rows: TensorFlow refuses negative positions.
        inside = tf.logical_and(indices >= 0, indices < int(variable.shape[0]))
        first = tf.where(inside, first, tf.constant(-size, tf.int64))
    if size == 1:
        return tf.reshape(first, [*_sizes(first), *row])
    within = tf.reshape(tf.range(size, dtype=tf.int64), row)
    return tf.reshape(first, [*_sizes(first), *[1] * len(row)]) + within


def _sizes(x: Tensor) -> list[Any]:
    return [tf.shape(x)[i] if size is None else size for i, size in enumerate(x.shape)]
