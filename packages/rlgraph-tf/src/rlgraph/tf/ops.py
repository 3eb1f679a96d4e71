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

    logical_and = staticmethod(lambda x, y: tf.logical_and(x, y))
    logical_or = staticmethod(lambda x, y: tf.logical_or(x, y))
    logical_xor = staticmethod(lambda x, y: tf.math.logical_xor(x, y))
    logical_not = staticmethod(lambda x: tf.logical_not(x))
    exp = staticmethod(lambda x: tf.exp(x))
    log = staticmethod(lambda x: tf.math.log(x))
    sqrt = staticmethod(lambda x: tf.sqrt(x))
    square = staticmethod(lambda x: tf.square(x))
    abs = staticmethod(lambda x: x if x.dtype == tf.uint8 else tf.abs(x))
    tanh = staticmethod(lambda x: tf.tanh(x))
    sigmoid = staticmethod(lambda x: tf.sigmoid(x))
    isfinite = staticmethod(lambda x: tf.math.is_finite(x))
    sign = staticmethod(lambda x: tf.cast(x > 0, tf.uint8) if x.dtype == tf.uint8 else tf.sign(x))
    floor = staticmethod(lambda x: tf.floor(x))
    ceil = staticmethod(lambda x: tf.math.ceil(x))
    round = staticmethod(lambda x: tf.round(x))
    trunc = staticmethod(lambda x: tf.where(x < 0, tf.math.ceil(x), tf.floor(x)))
    reciprocal = staticmethod(lambda x: tf.math.reciprocal(x))
    expm1 = staticmethod(lambda x: tf.math.expm1(x))
    log1p = staticmethod(lambda x: tf.math.log1p(x))
    sin = staticmethod(lambda x: tf.sin(x))
    cos = staticmethod(lambda x: tf.cos(x))
    tan = staticmethod(lambda x: tf.tan(x))
    asin = staticmethod(lambda x: tf.asin(x))
    acos = staticmethod(lambda x: tf.acos(x))
    atan = staticmethod(lambda x: tf.atan(x))
    sinh = staticmethod(lambda x: tf.sinh(x))
    cosh = staticmethod(lambda x: tf.cosh(x))
    asinh = staticmethod(lambda x: tf.asinh(x))
    acosh = staticmethod(lambda x: tf.acosh(x))
    atanh = staticmethod(lambda x: tf.atanh(x))
    erf = staticmethod(lambda x: tf.math.erf(x))
    lgamma = staticmethod(lambda x: tf.math.lgamma(x))
    digamma = staticmethod(lambda x: tf.math.digamma(x))
    isnan = staticmethod(lambda x: tf.math.is_nan(x))
    isinf = staticmethod(lambda x: tf.math.is_inf(x))
    atan2 = staticmethod(lambda x, y: tf.atan2(*_pair(x, y)))

    @staticmethod
    def logaddexp(x: Any, y: Any) -> Tensor:
        x, y = _pair(x, y)
        top = tf.stop_gradient(tf.maximum(x, y))
        top = tf.where(tf.math.is_finite(top), top, tf.zeros([], top.dtype))
        return tf.math.log(tf.exp(x - top) + tf.exp(y - top)) + top

    maximum = staticmethod(lambda x, y: tf.maximum(*_pair(x, y)))
    minimum = staticmethod(lambda x, y: tf.minimum(*_pair(x, y)))
    clip = staticmethod(lambda x, low, high: tf.clip_by_value(x, low, high))
    where = staticmethod(lambda condition, x, y: tf.where(condition, *_pair(x, y)))

    def astype(self, x: Tensor, dtype: str) -> Tensor:
        return tf.cast(x, self._dtype(dtype))

    stop_gradient = staticmethod(lambda x: tf.stop_gradient(x))

    # Reductions.

    mean = staticmethod(derivatives.reduce_mean)
    sum = staticmethod(derivatives.reduce_sum)
    max = staticmethod(lambda x, axis=None, keepdims=False: tf.reduce_max(x, axis, keepdims))
    min = staticmethod(lambda x, axis=None, keepdims=False: tf.reduce_min(x, axis, keepdims))
    all = staticmethod(lambda x, axis=None, keepdims=False: tf.reduce_all(x, axis, keepdims))
    argmax = staticmethod(lambda x, axis: tf.argmax(x, axis, output_type=tf.int64))
    any = staticmethod(lambda x, axis=None, keepdims=False: tf.reduce_any(x, axis, keepdims))

    @staticmethod
    def count_nonzero(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
        counted = tf.cast(tf.not_equal(x, tf.zeros([], x.dtype)), tf.int64)
        return tf.reduce_sum(counted, axis, keepdims)

    prod = staticmethod(lambda x, axis=None, keepdims=False: tf.reduce_prod(x, axis, keepdims))

    @staticmethod
    def var(x: Tensor, axis: Any = None, keepdims: bool = False, correction: int = 0) -> Tensor:
        x = tf.convert_to_tensor(x)
        mean = derivatives.reduce_mean(x, axis, True)
        squares = tf.square(x - mean)
        if correction == 0:
            return derivatives.reduce_mean(squares, axis, keepdims)
        count = tf.size(x) // tf.maximum(tf.size(mean), 1)
        return derivatives.reduce_sum(squares, axis, keepdims) / tf.cast(count - correction, x.dtype)

    @staticmethod
    def std(x: Tensor, axis: Any = None, keepdims: bool = False, correction: int = 0) -> Tensor:
        return tf.sqrt(TfOps.var(x, axis, keepdims, correction))

    logsumexp = staticmethod(lambda x, axis=None, keepdims=False: tf.reduce_logsumexp(x, axis, keepdims))
    argmin = staticmethod(lambda x, axis: tf.argmin(x, axis, output_type=tf.int64))
    cumulative_sum = staticmethod(lambda x, axis: tf.cumsum(x, axis))
    cumulative_prod = staticmethod(lambda x, axis: tf.math.cumprod(x, axis))
    softmax = staticmethod(lambda x, axis=-1: tf.nn.softmax(x, axis))
    log_softmax = staticmethod(lambda x, axis=-1: tf.nn.log_softmax(x, axis))

    # Contractions.

    matmul = staticmethod(lambda x, y: tf.matmul(x, y))

    @staticmethod
    def linear(x: Tensor, weights: Tensor, biases: Tensor | None = None) -> Tensor:
        # `bias_add`, not `+`: TensorFlow fuses it with the product and a following activation.
        product = tf.matmul(x, weights)
        if biases is not None and weights.shape[0] == 0:  # fused, there would be no biases
            return product + tf.broadcast_to(biases, tf.shape(product))
        return product if biases is None else tf.nn.bias_add(product, biases)

    outer = staticmethod(lambda x, y: tf.expand_dims(x, 1) * tf.expand_dims(y, 0))
    vecdot = staticmethod(lambda x, y, axis=-1: derivatives.reduce_sum(tf.multiply(x, y), axis, False))
    einsum = staticmethod(lambda equation, *tensors: tf.einsum(equation.replace(" ", ""), *tensors))

    # Creation.

    def one_hot(self, indices: Tensor, depth: int, dtype: str | None = None) -> Tensor:
        kind = self._dtype(dtype)
        return tf.one_hot(indices, depth, kind.as_numpy_dtype(1), kind.as_numpy_dtype(0), dtype=kind)

    def zeros(self, shape: Sequence[Any], dtype: str | None = None) -> Tensor:
        return tf.zeros(tuple(shape), self._dtype(dtype))

    def ones(self, shape: Sequence[Any], dtype: str | None = None) -> Tensor:
        return tf.ones(tuple(shape), self._dtype(dtype))

    zeros_like = staticmethod(lambda x: tf.zeros_like(x))
    ones_like = staticmethod(lambda x: tf.ones_like(x))

    def full(self, shape: Sequence[Any], value: float, dtype: str | None = None) -> Tensor:
        return tf.fill(tuple(shape), tf.constant(value, self._dtype(dtype)))

    full_like = staticmethod(lambda x, value: tf.fill(TfOps.shape(x), tf.constant(value, x.dtype)))

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

    relu = staticmethod(lambda x: tf.nn.relu(x))
    elu = staticmethod(lambda x: tf.nn.elu(x))
    softplus = staticmethod(lambda x: tf.math.softplus(x))

    @staticmethod
    def leaky_relu(x: Tensor, slope: float = 0.01) -> Tensor:
        return tf.where(x > 0, x, slope * x)  # TensorFlow rounds the slope to float32

    @staticmethod
    def gelu(x: Tensor) -> Tensor:
        return 0.5 * x * (1.0 + tf.math.erf(x * 0.5**0.5))  # TensorFlow rounds sqrt(2) to float32

    silu = staticmethod(lambda x: tf.nn.silu(x))
    selu = staticmethod(lambda x: tf.nn.selu(x))
    softsign = staticmethod(lambda x: tf.nn.softsign(x))
    log_sigmoid = staticmethod(lambda x: tf.math.log_sigmoid(x))

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
