"""Random operations on TensorFlow: stateless ones, by a key and a counter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

Tensor = Any


class Stream:
    """A random stream: each draw is a function of the stream's key and of how many draws came before.

    Args:
        seed: words the key is made of.
        name: a name for the variable.

    Attributes:
        state: key and count, int64 [2].
    """

    def __init__(self, seed: Sequence[int], name: str):
        (key,) = np.random.SeedSequence(seed).generate_state(1, np.uint64).astype(np.int64)
        self.state = tf.Variable([key, 0], dtype=tf.int64, trainable=False, name=name)

    def next_seed(self) -> Tensor:
        """What the next stateless operation is seeded with: int64 [2]."""
        with tf.device(None):  # where the state is, whatever the device of the draw
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
        seed, kind = self.stream.next_seed(), self._dtype(dtype)
        return tf.random.stateless_uniform(tuple(shape), seed, low, high, kind)

    def random_normal(
        self, shape: Sequence[Any], mean: float = 0.0, stddev: float = 1.0, dtype: str | None = None
    ) -> Tensor:
        seed, kind = self.stream.next_seed(), self._dtype(dtype)
        return tf.random.stateless_normal(tuple(shape), seed, mean, stddev, kind)

    def random_truncated_normal(
        self, shape: Sequence[Any], mean: float = 0.0, stddev: float = 1.0, dtype: str | None = None
    ) -> Tensor:
        seed, kind = self.stream.next_seed(), self._dtype(dtype)
        return tf.random.stateless_truncated_normal(tuple(shape), seed, mean, stddev, kind)

    def random_integers(self, shape: Sequence[Any], low: Any, high: Any, dtype: str = "int64") -> Tensor:
        seed, kind = self.stream.next_seed(), self._dtype(dtype)
        bounds = (bound if isinstance(bound, int) else tf.cast(bound, kind) for bound in (low, high))
        return tf.random.stateless_uniform(tuple(shape), seed, *bounds, kind)

    def random_permutation(self, n: Any) -> Tensor:
        return tf.random.experimental.stateless_shuffle(tf.range(n, dtype=tf.int64), self.stream.next_seed())

    def random_categorical(self, logits: Tensor) -> Tensor:
        # Gumbel's trick: the largest of the logits, each with noise of its own (Maddison et al., 2014).
        logits = tf.convert_to_tensor(logits)
        tiny = logits.dtype.as_numpy_dtype(np.finfo(logits.dtype.as_numpy_dtype).tiny)
        fractions = tf.random.stateless_uniform(
            tf.shape(logits), self.stream.next_seed(), tiny, 1.0, logits.dtype
        )
        return tf.argmax(logits - tf.math.log(-tf.math.log(fractions)), -1, output_type=tf.int64)

    def random_bernoulli(self, p: Tensor) -> Tensor:
        p = tf.convert_to_tensor(p)
        drawn = tf.random.stateless_uniform(tf.shape(p), self.stream.next_seed(), dtype=p.dtype)
        return drawn < p

    @staticmethod
    def through_host(x: Tensor, function: Callable[[np.ndarray], np.ndarray]) -> Tensor:
        """`x` as `function`, plain Python, returns it at run time; for tests (see `rlgraph.testing.record_draws`)."""
        result = tf.numpy_function(function, [x], x.dtype)
        result.set_shape(x.shape)
        return result
