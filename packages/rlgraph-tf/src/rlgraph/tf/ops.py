"""The contract on TensorFlow tensors. It is only called while a segment is traced, so plain clarity costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from rlgraph.tf import derivatives
from rlgraph.tf.handles import VariableHandle

Tensor = Any


class TfOps:
    """The `ops` namespace of the TensorFlow backend.

    Args:
        float_dtype: the execution's floating dtype.
    """

    def __init__(self, float_dtype: str = "float32"):
        self.float_dtype = float_dtype

    def _dtype(self, dtype: Any) -> tf.DType:
        return tf.as_dtype(self.float_dtype if dtype is None or dtype == "float" else dtype)

    @staticmethod
    def shape(x: Tensor) -> tuple[Any, ...]:
        """The sizes of `x`: integers where they are fixed, else int32 scalars."""
        sizes = x.shape.as_list()
        if None in sizes:
            dynamic = tf.shape(x)
            return tuple(dynamic[i] if size is None else size for i, size in enumerate(sizes))
        return tuple(sizes)

    # Elementwise.

    @staticmethod
    def logical_and(x: Tensor, y: Tensor) -> Tensor:
        return tf.logical_and(x, y)

    @staticmethod
    def logical_or(x: Tensor, y: Tensor) -> Tensor:
        return tf.logical_or(x, y)

    @staticmethod
    def logical_not(x: Tensor) -> Tensor:
        return tf.logical_not(x)

    @staticmethod
    def exp(x: Tensor) -> Tensor:
        return tf.exp(x)

    @staticmethod
    def log(x: Tensor) -> Tensor:
        return tf.math.log(x)

    @staticmethod
    def sqrt(x: Tensor) -> Tensor:
        return tf.sqrt(x)

    @staticmethod
    def square(x: Tensor) -> Tensor:
        return tf.square(x)

    @staticmethod
    def abs(x: Tensor) -> Tensor:
        return tf.abs(x)

    @staticmethod
    def tanh(x: Tensor) -> Tensor:
        return tf.tanh(x)

    @staticmethod
    def sigmoid(x: Tensor) -> Tensor:
        return tf.sigmoid(x)

    @staticmethod
    def isfinite(x: Tensor) -> Tensor:
        return tf.math.is_finite(x)

    @staticmethod
    def maximum(x: Any, y: Any) -> Tensor:
        return tf.maximum(*_pair(x, y))

    @staticmethod
    def minimum(x: Any, y: Any) -> Tensor:
        return tf.minimum(*_pair(x, y))

    @staticmethod
    def clip(x: Tensor, low: float, high: float) -> Tensor:
        return tf.clip_by_value(x, low, high)

    @staticmethod
    def where(condition: Tensor, x: Any, y: Any) -> Tensor:
        return tf.where(condition, *_pair(x, y))

    def astype(self, x: Tensor, dtype: str) -> Tensor:
        return tf.cast(x, self._dtype(dtype))

    @staticmethod
    def stop_gradient(x: Tensor) -> Tensor:
        return tf.stop_gradient(x)

    # Reductions.

    @staticmethod
    def mean(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
        return derivatives.reduce_mean(x, axis, keepdims)

    @staticmethod
    def sum(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
        return derivatives.reduce_sum(x, axis, keepdims)

    @staticmethod
    def max(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
        return tf.reduce_max(x, axis, keepdims)

    @staticmethod
    def min(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
        return tf.reduce_min(x, axis, keepdims)

    @staticmethod
    def all(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
        return tf.reduce_all(x, axis, keepdims)

    @staticmethod
    def argmax(x: Tensor, axis: int) -> Tensor:
        return tf.argmax(x, axis, output_type=tf.int64)

    @staticmethod
    def softmax(x: Tensor, axis: int = -1) -> Tensor:
        return tf.nn.softmax(x, axis)

    @staticmethod
    def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
        return tf.nn.log_softmax(x, axis)

    # Contractions.

    @staticmethod
    def matmul(x: Tensor, y: Tensor) -> Tensor:
        return tf.matmul(x, y)

    @staticmethod
    def linear(x: Tensor, weights: Tensor, biases: Tensor | None = None) -> Tensor:
        # `bias_add`, not `+`: TensorFlow fuses it with the product and a following activation.
        product = tf.matmul(x, weights)
        return product if biases is None else tf.nn.bias_add(product, biases)

    # Picking by index.

    @staticmethod
    def take(x: Tensor, indices: Tensor, axis: int = 0) -> Tensor:
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

    def one_hot(self, indices: Tensor, depth: int, dtype: str | None = None) -> Tensor:
        kind = self._dtype(dtype)
        return tf.one_hot(indices, depth, kind.as_numpy_dtype(1), kind.as_numpy_dtype(0), dtype=kind)

    # Shapes and creation.

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

    def zeros(self, shape: Sequence[Any], dtype: str | None = None) -> Tensor:
        return tf.zeros(tuple(shape), self._dtype(dtype))

    def ones(self, shape: Sequence[Any], dtype: str | None = None) -> Tensor:
        return tf.ones(tuple(shape), self._dtype(dtype))

    @staticmethod
    def zeros_like(x: Tensor) -> Tensor:
        return tf.zeros_like(x)

    @staticmethod
    def ones_like(x: Tensor) -> Tensor:
        return tf.ones_like(x)

    # Activations.

    @staticmethod
    def relu(x: Tensor) -> Tensor:
        return tf.nn.relu(x)

    @staticmethod
    def elu(x: Tensor) -> Tensor:
        return tf.nn.elu(x)

    @staticmethod
    def softplus(x: Tensor) -> Tensor:
        return tf.math.softplus(x)

    # Variables.

    @staticmethod
    def read(variable: VariableHandle) -> Tensor:
        return variable.value

    @staticmethod
    def assign(variable: VariableHandle, value: Any) -> None:
        variable.segment.assign(variable, value)

    @staticmethod
    def assign_add(variable: VariableHandle, value: Any) -> None:
        variable.segment.assign_add(variable, value)


def _pair(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Both as tensors; a Python number takes the other's dtype."""
    if isinstance(x, bool | int | float):
        y = tf.convert_to_tensor(y)
        return tf.constant(x, y.dtype), y
    x = tf.convert_to_tensor(x)
    return x, tf.convert_to_tensor(y, x.dtype)


def _simple(shape: Sequence[Any]) -> tuple[Any, ...]:
    """`shape` with a single unknown size written as -1, which keeps the shape a constant of the program."""
    unknown = [i for i, size in enumerate(shape) if not isinstance(size, int)]
    fixed = [size for size in shape if isinstance(size, int)]
    if len(unknown) == 1 and all(size > 0 for size in fixed):
        return tuple(-1 if i == unknown[0] else size for i, size in enumerate(shape))
    return tuple(shape)
