"""Random operations on TensorFlow: stateless draws from a key and a counter.

All numbers are computed from random integers, since only these are equal in compiled programs and graphs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

Tensor = Any

#: The algorithm for random integers; TensorFlow's default depends on the device.
ALGORITHM = "philox"


class Stream:
    """A random stream: each draw is a function of the key and the number of earlier draws.

    Args:
        seed: words of the key.
        name: name of the variable.

    Attributes:
        state: key and count, int64 [2].
    """

    def __init__(self, seed: Sequence[int], name: str):
        (key,) = np.random.SeedSequence(seed).generate_state(1, np.uint64).astype(np.int64)
        self.state = tf.Variable([key, 0], dtype=tf.int64, trainable=False, name=name)

    def next_seed(self) -> Tensor:
        """The seed of the next stateless operation: int64 [2]."""
        with tf.device(None):  # on the device of the state, not of the draw
            seed = self.state.read_value()
            self.state.assign_add([0, 1], read_value=False)
        return seed


class TfRandom:
    """The random operations (see `rlgraph.core.ops.random`); part of `TfOps`.

    Attributes:
        stream: the stream of the component whose graph function draws.
    """

    stream: Stream

    def _dtype(self, dtype: Any) -> tf.DType:
        raise NotImplementedError

    def random_uniform(
        self, shape: Sequence[Any], low: float = 0.0, high: float = 1.0, dtype: str | None = None
    ) -> Tensor:
        fractions = self._fractions(tuple(shape), self._dtype(dtype))
        return fractions if (low, high) == (0.0, 1.0) else low + (high - low) * fractions

    def random_normal(
        self, shape: Sequence[Any], mean: float = 0.0, stddev: float = 1.0, dtype: str | None = None
    ) -> Tensor:
        # Box and Muller (1958): a radius and an angle.
        first, second = tf.unstack(self._fractions((2, *shape), self._dtype(dtype)))
        standard = tf.sqrt(-2.0 * tf.math.log1p(-first)) * tf.cos(2.0 * math.pi * second)
        return mean + stddev * standard

    def random_truncated_normal(
        self, shape: Sequence[Any], mean: float = 0.0, stddev: float = 1.0, dtype: str | None = None
    ) -> Tensor:
        # The inverse of the distribution function, between two standard deviations.
        fractions = self._fractions(tuple(shape), self._dtype(dtype))
        limit = math.erf(math.sqrt(2.0))
        standard = math.sqrt(2.0) * tf.math.erfinv(limit * (2.0 * fractions - 1.0))
        return mean + stddev * tf.clip_by_value(standard, -2.0, 2.0)

    def random_integers(self, shape: Sequence[Any], low: Any, high: Any, dtype: str = "int64") -> Tensor:
        seed, kind = self.stream.next_seed(), self._dtype(dtype)
        bounds = (bound if isinstance(bound, int) else tf.cast(bound, kind) for bound in (low, high))
        return tf.random.stateless_uniform(tuple(shape), seed, *bounds, kind, alg=ALGORITHM)

    def random_permutation(self, n: Any) -> Tensor:
        # Indices that sort random numbers.
        return tf.cast(tf.math.top_k(self._bits((n,), tf.int64), tf.cast(n, tf.int32)).indices, tf.int64)

    def random_categorical(self, logits: Tensor) -> Tensor:
        # Gumbel-max trick: the largest logit after adding independent noise (Maddison et al., 2014).
        logits = tf.convert_to_tensor(logits)
        tiny = logits.dtype.as_numpy_dtype(np.finfo(logits.dtype.as_numpy_dtype).tiny)
        fractions = tf.maximum(self._fractions(tf.shape(logits), logits.dtype), tiny)
        return tf.argmax(logits - tf.math.log(-tf.math.log(fractions)), -1, output_type=tf.int64)

    def random_bernoulli(self, p: Tensor) -> Tensor:
        p = tf.convert_to_tensor(p)
        return self._fractions(tf.shape(p), p.dtype) < p

    def _bits(self, shape: Any, kind: tf.DType) -> Tensor:
        """Random integers over the whole range of `kind`."""
        seed = self.stream.next_seed()
        return tf.random.stateless_uniform(shape, seed, None, None, kind, alg=ALGORITHM)

    def _fractions(self, shape: Any, kind: tf.DType) -> Tensor:
        """Uniform numbers in [0, 1) at full precision."""
        bits, unused, digits = (tf.uint64, 11, 53) if kind == tf.float64 else (tf.uint32, 8, 24)
        drawn = tf.bitwise.right_shift(self._bits(shape, bits), tf.constant(unused, bits))
        return tf.cast(drawn, kind) * 2.0**-digits

    @staticmethod
    def through_host(x: Tensor, function: Callable[[np.ndarray], np.ndarray]) -> Tensor:
        """Pass `x` through the Python `function` at run time; for tests (see `rlgraph.testing.record_draws`)."""
        result = tf.numpy_function(function, [x], x.dtype)
        result.set_shape(x.shape)
        return result
