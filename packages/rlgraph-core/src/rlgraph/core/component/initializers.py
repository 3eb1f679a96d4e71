"""Starting values of variables. Drawn on the host, so that every backend starts from the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rlgraph.core.errors import SpecError, nearest
from rlgraph.core.graph.variables import Initializer


def _fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """(inputs, outputs) of a weight whose last two axes are [in, out]."""
    if len(shape) < 2:
        size = int(np.prod(shape, dtype=np.int64))
        return size, size
    receptive = int(np.prod(shape[:-2], dtype=np.int64))
    return receptive * shape[-2], receptive * shape[-1]


def glorot_uniform(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> np.ndarray:
    """Uniform in +-sqrt(6 / (in + out)) (Glorot and Bengio, 2010, eq. 16)."""
    limit = np.sqrt(6.0 / sum(_fans(shape)))
    return rng.uniform(-limit, limit, shape).astype(dtype)


def he_uniform(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> np.ndarray:
    """Uniform in +-sqrt(6 / in), for layers followed by a ReLU (He et al., 2015, eq. 10)."""
    limit = np.sqrt(6.0 / _fans(shape)[0])
    return rng.uniform(-limit, limit, shape).astype(dtype)


NAMED: dict[str, Initializer] = {"glorot_uniform": glorot_uniform, "he_uniform": he_uniform}


def constant(value: Any) -> Initializer:
    """Every element is `value` (a number, or an array of the variable's shape)."""

    def initializer(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> np.ndarray:
        return np.array(np.broadcast_to(np.asarray(value, dtype), shape))

    return initializer


def resolve_initializer(spec: Any) -> Initializer:
    """The initializer a spec means: a number or array, a name, or a function.

    Raises:
        SpecError: none of these.
    """
    if isinstance(spec, str):
        if spec not in NAMED:
            raise SpecError(f"unknown initializer {spec!r}. {nearest(spec, NAMED)}")
        return NAMED[spec]
    if isinstance(spec, Callable):  # type: ignore[arg-type]
        return spec
    if isinstance(spec, int | float | np.ndarray | list):
        return constant(spec)
    raise SpecError(f"an initializer is a number, a name or a function, given {type(spec).__name__} {spec!r}")
