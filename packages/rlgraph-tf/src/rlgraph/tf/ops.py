"""The operations on TensorFlow tensors. They run only during tracing, so overhead does not matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from rlgraph.tf import derivatives
from rlgraph.tf.control import TfControl
from rlgraph.tf.convolution import Convolutions
from rlgraph.tf.gather import Gathers
from rlgraph.tf.handles import VariableHandle
from rlgraph.tf.random import TfRandom
from rlgraph.tf.recurrence import Recurrence
from rlgraph.tf.shaping import Shaping
from rlgraph.tf.state import TfRows

Tensor = Any


class TfOps(Convolutions, Gathers, Recurrence, Shaping, TfRandom, TfControl, TfRows):
    """The `ops` namespace of the TensorFlow backend.

    Args:
        float_dtype: the execution's floating dtype.
    """

    def __init__(self, float_dtype: str = "float32"):
        self.float_dtype = float_dtype

    def _dtype(self, dtype: Any) -> tf.DType:
        return tf.as_dtype(self.float_dtype if dtype is None or dtype == "float" else dtype)

    # Elementwise.

    @staticmethod
    def logical_and(x: Tensor, y: Tensor) -> Tensor:
        return tf.logical_and(x, y)

    @staticmethod
    def logical_or(x: Tensor, y: Tensor) -> Tensor:
        return tf.logical_or(x, y)

    @staticmethod
    def logical_xor(x: Tensor, y: Tensor) -> Tensor:
        return tf.math.logical_xor(x, y)

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
    def sign(x: Tensor) -> Tensor:
        return tf.sign(x)

    @staticmethod
    def floor(x: Tensor) -> Tensor:
        return tf.floor(x)

    @staticmethod
    def ceil(x: Tensor) -> Tensor:
        return tf.math.ceil(x)

    @staticmethod
    def round(x: Tensor) -> Tensor:
        return tf.round(x)

    @staticmethod
    def trunc(x: Tensor) -> Tensor:
        return tf.where(x < 0, tf.math.ceil(x), tf.floor(x))

    @staticmethod
    def reciprocal(x: Tensor) -> Tensor:
        return tf.math.reciprocal(x)

    @staticmethod
    def expm1(x: Tensor) -> Tensor:
        return tf.math.expm1(x)

    @staticmethod
    def log1p(x: Tensor) -> Tensor:
        return tf.math.log1p(x)

    @staticmethod
    def sin(x: Tensor) -> Tensor:
        return tf.sin(x)

    @staticmethod
    def cos(x: Tensor) -> Tensor:
        return tf.cos(x)

    @staticmethod
    def tan(x: Tensor) -> Tensor:
        return tf.tan(x)

    @staticmethod
    def asin(x: Tensor) -> Tensor:
        return tf.asin(x)

    @staticmethod
    def acos(x: Tensor) -> Tensor:
        return tf.acos(x)

    @staticmethod
    def atan(x: Tensor) -> Tensor:
        return tf.atan(x)

    @staticmethod
    def sinh(x: Tensor) -> Tensor:
        return tf.sinh(x)

    @staticmethod
    def cosh(x: Tensor) -> Tensor:
        return tf.cosh(x)

    @staticmethod
    def asinh(x: Tensor) -> Tensor:
        return tf.asinh(x)

    @staticmethod
    def acosh(x: Tensor) -> Tensor:
        return tf.acosh(x)

    @staticmethod
    def atanh(x: Tensor) -> Tensor:
        return tf.atanh(x)

    @staticmethod
    def erf(x: Tensor) -> Tensor:
        return tf.math.erf(x)

    @staticmethod
    def lgamma(x: Tensor) -> Tensor:
        return tf.math.lgamma(x)

    @staticmethod
    def digamma(x: Tensor) -> Tensor:
        return tf.math.digamma(x)

    @staticmethod
    def isnan(x: Tensor) -> Tensor:
        return tf.math.is_nan(x)

    @staticmethod
    def isinf(x: Tensor) -> Tensor:
        return tf.math.is_inf(x)

    @staticmethod
    def atan2(x: Any, y: Any) -> Tensor:
        return tf.atan2(*_pair(x, y))

    @staticmethod
    def logaddexp(x: Any, y: Any) -> Tensor:
        x, y = _pair(x, y)
        top = tf.stop_gradient(tf.maximum(x, y))
        top = tf.where(tf.math.is_finite(top), top, tf.zeros([], top.dtype))
        return tf.math.log(tf.exp(x - top) + tf.exp(y - top)) + top

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
    def any(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
        return tf.reduce_any(x, axis, keepdims)

    @staticmethod
    def count_nonzero(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
        counted = tf.cast(tf.not_equal(x, tf.zeros([], x.dtype)), tf.int64)
        return tf.reduce_sum(counted, axis, keepdims)

    @staticmethod
    def prod(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
        return tf.reduce_prod(x, axis, keepdims)

    @staticmethod
    def var(x: Tensor, axis: Any = None, keepdims: bool = False, correction: int = 0) -> Tensor:
        x = tf.convert_to_tensor(x)
        mean = derivatives.reduce_mean(x, axis, True)
        squares = tf.square(x - mean)
        if correction == 0:
            return derivatives.reduce_mean(squares, axis, keepdims)
        count = tf.size(x) // tf.size(mean)
        return derivatives.reduce_sum(squares, axis, keepdims) / tf.cast(count - correction, x.dtype)

    @staticmethod
    def std(x: Tensor, axis: Any = None, keepdims: bool = False, correction: int = 0) -> Tensor:
        return tf.sqrt(TfOps.var(x, axis, keepdims, correction))

    @staticmethod
    def logsumexp(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
        return tf.reduce_logsumexp(x, axis, keepdims)

    @staticmethod
    def argmin(x: Tensor, axis: int) -> Tensor:
        return tf.argmin(x, axis, output_type=tf.int64)

    @staticmethod
    def cumulative_sum(x: Tensor, axis: int) -> Tensor:
        return tf.cumsum(x, axis)

    @staticmethod
    def cumulative_prod(x: Tensor, axis: int) -> Tensor:
        return tf.math.cumprod(x, axis)

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

    @staticmethod
    def outer(x: Tensor, y: Tensor) -> Tensor:
        return tf.expand_dims(x, 1) * tf.expand_dims(y, 0)

    @staticmethod
    def vecdot(x: Tensor, y: Tensor, axis: int = -1) -> Tensor:
        return derivatives.reduce_sum(tf.multiply(x, y), axis, False)

    @staticmethod
    def einsum(equation: str, *tensors: Tensor) -> Tensor:
        return tf.einsum(equation.replace(" ", ""), *tensors)

    # Creation.

    def one_hot(self, indices: Tensor, depth: int, dtype: str | None = None) -> Tensor:
        kind = self._dtype(dtype)
        return tf.one_hot(indices, depth, kind.as_numpy_dtype(1), kind.as_numpy_dtype(0), dtype=kind)

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

    def full(self, shape: Sequence[Any], value: float, dtype: str | None = None) -> Tensor:
        return tf.fill(tuple(shape), tf.constant(value, self._dtype(dtype)))

    @staticmethod
    def full_like(x: Tensor, value: float) -> Tensor:
        return tf.fill(TfOps.shape(x), tf.constant(value, x.dtype))

    def eye(self, rows: Any, columns: Any = None, dtype: str | None = None) -> Tensor:
        places = tf.range(rows if columns is None else columns)
        return tf.cast(tf.expand_dims(tf.range(rows), 1) == places, self._dtype(dtype))

    def arange(self, start: Any, stop: Any = None, step: int = 1, dtype: str = "int64") -> Tensor:
        first, end = (0, start) if stop is None else (start, stop)
        if isinstance(first, int) and isinstance(end, int):
            return tf.constant(np.arange(first, end, step), self._dtype(dtype))
        return tf.cast(tf.range(first, tf.maximum(first, end)), self._dtype(dtype))

    def linspace(self, start: float, stop: float, num: int, dtype: str | None = None) -> Tensor:
        return tf.constant(np.linspace(start, stop, num), self._dtype(dtype))

    # Activations and normalisation.

    @staticmethod
    def relu(x: Tensor) -> Tensor:
        return tf.nn.relu(x)

    @staticmethod
    def elu(x: Tensor) -> Tensor:
        return tf.nn.elu(x)

    @staticmethod
    def softplus(x: Tensor) -> Tensor:
        return tf.math.softplus(x)

    @staticmethod
    def leaky_relu(x: Tensor, slope: float = 0.01) -> Tensor:
        return tf.where(x > 0, x, slope * x)  # TensorFlow rounds the slope to float32

    @staticmethod
    def gelu(x: Tensor) -> Tensor:
        return 0.5 * x * (1.0 + tf.math.erf(x * 0.5**0.5))  # TensorFlow rounds sqrt(2) to float32

    @staticmethod
    def silu(x: Tensor) -> Tensor:
        return tf.nn.silu(x)

    @staticmethod
    def selu(x: Tensor) -> Tensor:
        return tf.nn.selu(x)

    @staticmethod
    def softsign(x: Tensor) -> Tensor:
        return tf.nn.softsign(x)

    @staticmethod
    def log_sigmoid(x: Tensor) -> Tensor:
        return tf.math.log_sigmoid(x)

    @staticmethod
    def layer_norm(
        x: Tensor, scale: Tensor | None = None, offset: Tensor | None = None, epsilon: float = 1e-5
    ) -> Tensor:
        x = tf.convert_to_tensor(x)
        centred = x - derivatives.reduce_mean(x, -1, True)
        y = centred * tf.math.rsqrt(derivatives.reduce_mean(tf.square(centred), -1, True) + epsilon)
        y = y if scale is None else y * scale
        return y if offset is None else y + offset

    # Variables.

    @staticmethod
    def read(variable: VariableHandle) -> Tensor:
        return variable.value

    @staticmethod
    def assign(variable: VariableHandle, value: Any) -> None:
        variable.state.assign(variable, value)

    @staticmethod
    def assign_add(variable: VariableHandle, value: Any) -> None:
        variable.state.assign_add(variable, value)


def _pair(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Both as tensors; a Python number takes the other's dtype."""
    if isinstance(x, bool | int | float):
        y = tf.convert_to_tensor(y)
        return tf.constant(x, y.dtype), y
    x = tf.convert_to_tensor(x)
    return x, tf.convert_to_tensor(y, x.dtype)
