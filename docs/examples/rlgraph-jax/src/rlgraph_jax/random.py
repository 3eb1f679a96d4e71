"""Random streams and draws: a key and a counter, which the program takes and returns like a variable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import Array
from jax import numpy as jnp

from rlgraph.core.random_streams import stream_seed

#: Named, so that the numbers do not depend on what the application has chosen for itself.
GENERATOR = "threefry2x32"


def first_state(seed: int, name: str) -> Array:
    """The state ``[key, key, count]`` (uint32) that the stream `name` starts in."""
    key = np.random.SeedSequence(stream_seed(seed, name)).generate_state(2)
    return jnp.asarray(np.append(key, 0), jnp.uint32)


class Stream:
    """The stream of one component while a segment is traced.

    Args:
        values: holds its state, by name.
        name: its name.
    """

    def __init__(self, values: dict[str, Array], name: str):
        self.values, self.name = values, name

    def next_key(self) -> Array:
        """The key of the next draw."""
        state = self.values[self.name]
        self.values[self.name] = state.at[2].add(1)
        return jax.random.fold_in(
            jax.random.wrap_key_data(state[:2], impl=GENERATOR), state[2]
        )


class Random:
    """The family random.

    Attributes:
        stream: the stream of the component whose graph function draws; set when the function is linked.
    """

    stream: Stream

    def dtype(self, name: str | None) -> str:
        raise NotImplementedError

    def random_uniform(
        self,
        shape: Sequence[int],
        low: float = 0.0,
        high: float = 1.0,
        dtype: str | None = None,
    ) -> Array:
        return jax.random.uniform(
            self.stream.next_key(), shape, self.dtype(dtype), low, high
        )

    def random_normal(
        self,
        shape: Sequence[int],
        mean: float = 0.0,
        stddev: float = 1.0,
        dtype: str | None = None,
    ) -> Array:
        return mean + stddev * jax.random.normal(
            self.stream.next_key(), shape, self.dtype(dtype)
        )

    def random_truncated_normal(
        self,
        shape: Sequence[int],
        mean: float = 0.0,
        stddev: float = 1.0,
        dtype: str | None = None,
    ) -> Array:
        drawn = jax.random.truncated_normal(
            self.stream.next_key(), -2.0, 2.0, shape, self.dtype(dtype)
        )
        return mean + stddev * drawn

    def random_integers(
        self, shape: Sequence[int], low: Any, high: Any, dtype: str = "int64"
    ) -> Array:
        return jax.random.randint(self.stream.next_key(), shape, low, high, dtype)

    def random_permutation(self, n: int) -> Array:
        return jax.random.permutation(
            self.stream.next_key(), jnp.arange(n, dtype=jnp.int64)
        )

    def random_categorical(self, logits: Array) -> Array:
        return jax.random.categorical(self.stream.next_key(), logits).astype(jnp.int64)

    def random_bernoulli(self, p: Array) -> Array:
        return jax.random.bernoulli(self.stream.next_key(), p)

    @staticmethod
    def through_host(x: Array, function: Callable[[np.ndarray], np.ndarray]) -> Array:
        """`x` as `function`, plain Python, returns it at run time; for tests (see `rlgraph.testing.record_draws`)."""
        # As bits: a callback may run in a thread of its own, which does not know that this program has 64 bits.
        bits = (
            x.astype("uint8")
            if x.dtype == bool
            else jax.lax.bitcast_convert_type(x, jnp.uint32)
        )

        def of_bits(given: np.ndarray) -> np.ndarray:
            value = np.ascontiguousarray(given).view(x.dtype).reshape(x.shape)
            return (
                np.ascontiguousarray(function(value))
                .view(bits.dtype)
                .reshape(bits.shape)
            )

        same = jax.ShapeDtypeStruct(bits.shape, bits.dtype)
        result = jax.experimental.io_callback(of_bits, same, bits, ordered=True)
        return (
            result.astype(bool)
            if x.dtype == bool
            else jax.lax.bitcast_convert_type(result, x.dtype)
        )
