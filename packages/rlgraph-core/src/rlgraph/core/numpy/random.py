"""Random operations on NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = Any


def _uniform(rng: np.random.Generator, dtype: str, shape: tuple[int, ...], low: float, high: float) -> Array:
    return rng.uniform(low, high, shape).astype(dtype)


def _normal(
    rng: np.random.Generator, dtype: str, shape: tuple[int, ...], mean: float, stddev: float
) -> Array:
    return rng.normal(mean, stddev, shape).astype(dtype)


def _truncated_normal(
    rng: np.random.Generator, dtype: str, shape: tuple[int, ...], mean: float, stddev: float
) -> Array:
    drawn = np.asarray(rng.standard_normal(shape))
    while (outside := np.abs(drawn) > 2.0).any():
        drawn[outside] = rng.standard_normal(int(outside.sum()))
    return (mean + stddev * drawn).astype(dtype)


def _integers(rng: np.random.Generator, dtype: str, shape: tuple[int, ...], low: Any, high: Any) -> Array:
    return rng.integers(low, high, shape, dtype=dtype)


def _permutation(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
    return rng.permutation(shape[0]).astype(dtype, copy=False)


def _gumbel(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
    return rng.gumbel(size=shape).astype(dtype)


def _fraction(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
    # Below 1 after rounding too, so that a probability of 1 is certain.
    return np.minimum(rng.random(shape).astype(dtype), 1.0 - np.finfo(dtype).epsneg)


#: Random numbers by kind (see `rlgraph.core.ops.random.Noise`): ``f(generator, dtype, shape, *parameters)``.
DRAWS: dict[str, Callable[..., Array]] = {
    "uniform": _uniform,
    "normal": _normal,
    "truncated_normal": _truncated_normal,
    "integers": _integers,
    "permutation": _permutation,
    "gumbel": _gumbel,
    "fraction": _fraction,
}


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
        return _uniform(self.stream, self._float(dtype), tuple(shape), low, high)

    def random_normal(
        self, shape: Sequence[int], mean: float = 0.0, stddev: float = 1.0, dtype: str | None = None
    ) -> Array:
        return _normal(self.stream, self._float(dtype), tuple(shape), mean, stddev)

    def random_truncated_normal(
        self, shape: Sequence[int], mean: float = 0.0, stddev: float = 1.0, dtype: str | None = None
    ) -> Array:
        return _truncated_normal(self.stream, self._float(dtype), tuple(shape), mean, stddev)

    def random_integers(self, shape: Sequence[int], low: Any, high: Any, dtype: str = "int64") -> Array:
        return _integers(self.stream, dtype, tuple(shape), low, high)

    def random_permutation(self, n: int) -> Array:
        return _permutation(self.stream, "int64", (n,))

    def random_categorical(self, logits: Array) -> Array:
        # Gumbel's trick: the largest of the logits, each with its own noise (Maddison et al., 2014).
        return np.asarray((logits + _gumbel(self.stream, logits.dtype, logits.shape)).argmax(-1))

    def random_bernoulli(self, p: Array) -> Array:
        return np.asarray(_fraction(self.stream, p.dtype, p.shape) < p)

    @staticmethod
    def through_host(x: Array, function: Callable[[Array], Array]) -> Array:
        """`x` as `function`, plain Python, returns it at run time; for tests (see `rlgraph.testing.record_draws`)."""
        return function(x)

    def _float(self, dtype: str | None) -> str:
        return self.float_dtype if dtype in (None, "float") else str(dtype)
