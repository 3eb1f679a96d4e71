"""Random operations on NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = Any


class NumpyRandom:
    """The random operations (see `rlgraph.core.ops.random`); part of `NumpyOps`.

    Attributes:
        stream: the stream of the component whose graph function draws.
    """

    stream: np.random.Generator
    float_dtype: str

    def random_uniform(
        self, shape: Sequence[int], low: float = 0.0, high: float = 1.0, dtype: str | None = None
    ) -> Array:
        return self.stream.uniform(low, high, tuple(shape)).astype(self._float(dtype))

    def random_normal(
        self, shape: Sequence[int], mean: float = 0.0, stddev: float = 1.0, dtype: str | None = None
    ) -> Array:
        return self.stream.normal(mean, stddev, tuple(shape)).astype(self._float(dtype))

    def random_truncated_normal(
        self, shape: Sequence[int], mean: float = 0.0, stddev: float = 1.0, dtype: str | None = None
    ) -> Array:
        drawn = np.asarray(self.stream.standard_normal(tuple(shape)))
        while (outside := np.abs(drawn) > 2.0).any():
            drawn[outside] = self.stream.standard_normal(int(outside.sum()))
        return (mean + stddev * drawn).astype(self._float(dtype))

    def random_integers(self, shape: Sequence[int], low: Any, high: Any, dtype: str = "int64") -> Array:
        return self.stream.integers(low, high, tuple(shape), dtype=dtype)

    def random_permutation(self, n: int) -> Array:
        return self.stream.permutation(n)

    def random_categorical(self, logits: Array) -> Array:
        # Gumbel's trick: the largest of the logits, each with its own noise (Maddison et al., 2014).
        return np.asarray((logits + self.stream.gumbel(size=logits.shape)).argmax(-1))

    def random_bernoulli(self, p: Array) -> Array:
        return np.asarray(self.stream.random(np.shape(p)) < p)

    @staticmethod
    def through_host(x: Array, function: Callable[[Array], Array]) -> Array:
        """`x` as `function`, plain Python, returns it at run time; for tests (see `rlgraph.testing.record_draws`)."""
        return function(x)

    def _float(self, dtype: str | None) -> str:
        return self.float_dtype if dtype in (None, "float") else str(dtype)
