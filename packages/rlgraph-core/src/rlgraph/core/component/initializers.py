"""Initializers of variables, drawn on the host so that every backend starts from the same numbers.

An `Initializer` is ``f(shape, dtype, rng) -> array``. The functions here return one; specs refer to them by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rlgraph.core.errors import SpecError, nearest
from rlgraph.core.graph.variables import Initializer, zeros
from rlgraph.core.specs.specifiable import call_checked


def _fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """(inputs, outputs) of weights: the last two axes are [in, out], those before them the window of a filter.

    An output of a filter ``[h, w, C, O]`` has ``h * w * C`` inputs. A single axis counts as both.
    """
    if len(shape) < 2:
        size = int(np.prod(shape, dtype=np.int64))
        return size, size
    receptive = int(np.prod(shape[:-2], dtype=np.int64))
    return receptive * shape[-2], receptive * shape[-1]


def _sum(inputs: int, outputs: int) -> int:
    return inputs + outputs


def _inputs(inputs: int, _: int) -> int:
    return inputs


def _uniform(numerator: float, size: Callable[[int, int], int], gain: float) -> Initializer:
    """Uniform with mean 0 and variance gain^2 * numerator / size, where the size depends on inputs and outputs."""

    def initializer(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> np.ndarray:
        bound = gain * np.sqrt(3.0 * numerator / size(*_fans(shape)))
        return rng.uniform(-bound, bound, shape).astype(dtype)

    return initializer


def _normal(numerator: float, size: Callable[[int, int], int], gain: float) -> Initializer:
    """Normal with mean 0 and variance gain^2 * numerator / size."""

    def initializer(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> np.ndarray:
        deviation = gain * np.sqrt(numerator / size(*_fans(shape)))
        return rng.normal(0.0, deviation, shape).astype(dtype)

    return initializer


def glorot_uniform(gain: float = 1.0) -> Initializer:
    """Uniform in +-gain * sqrt(6 / (in + out)) (Glorot and Bengio, 2010, eq. 16)."""
    return _uniform(2.0, _sum, gain)


def glorot_normal(gain: float = 1.0) -> Initializer:
    """Normal with variance gain^2 * 2 / (in + out) (Glorot and Bengio, 2010, eq. 12)."""
    return _normal(2.0, _sum, gain)


def he_uniform(gain: float = 1.0) -> Initializer:
    """Uniform in +-gain * sqrt(6 / in), for layers followed by a ReLU (He et al., 2015, eq. 10)."""
    return _uniform(2.0, _inputs, gain)


def he_normal(gain: float = 1.0) -> Initializer:
    """Normal with variance gain^2 * 2 / in, for layers followed by a ReLU (He et al., 2015, eq. 10)."""
    return _normal(2.0, _inputs, gain)


def lecun_uniform(gain: float = 1.0) -> Initializer:
    """Uniform in +-gain * sqrt(3 / in) (LeCun et al., 1998, section 4.6)."""
    return _uniform(1.0, _inputs, gain)


def lecun_normal(gain: float = 1.0) -> Initializer:
    """Normal with variance gain^2 / in (LeCun et al., 1998, section 4.6); with `selu`, Klambauer et al. (2017)."""
    return _normal(1.0, _inputs, gain)


def uniform(low: float = -0.05, high: float = 0.05) -> Initializer:
    """Uniform in [low, high)."""
    return lambda shape, dtype, rng: rng.uniform(low, high, shape).astype(dtype)


def normal(mean: float = 0.0, stddev: float = 0.05) -> Initializer:
    """Normal."""
    return lambda shape, dtype, rng: rng.normal(mean, stddev, shape).astype(dtype)


def truncated_normal(mean: float = 0.0, stddev: float = 0.05) -> Initializer:
    """Normal; values more than two standard deviations from the mean are drawn again."""

    def initializer(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> np.ndarray:
        values = rng.standard_normal(shape)
        while (outside := np.abs(values) > 2.0).any():
            values = np.where(outside, rng.standard_normal(shape), values)
        return (mean + stddev * values).astype(dtype)

    return initializer


def orthogonal(gain: float = 1.0) -> Initializer:
    """`gain` times a matrix [all axes but the last, last] with orthonormal columns, or rows if these are fewer
    (Saxe et al., 2014)."""

    def initializer(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> np.ndarray:
        if len(shape) < 2:
            raise SpecError(
                f"initializer 'orthogonal' needs a variable of rank 2 or more, given shape {shape}"
            )
        rows, columns = int(np.prod(shape[:-1], dtype=np.int64)), shape[-1]
        q, r = np.linalg.qr(rng.standard_normal((max(rows, columns), min(rows, columns))))
        q = q * np.sign(np.diag(r))  # without it the result would not be distributed uniformly
        return (gain * (q if rows >= columns else q.T)).reshape(shape).astype(dtype)

    return initializer


def constant(value: Any) -> Initializer:
    """A constant, or an array with a value per element.

    Raises:
        SpecError: when called for a variable of another kind.
    """

    if type(value) in (int, float) and value == 0:
        return zeros

    def initializer(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> np.ndarray:
        array = np.asarray(value)
        if array.dtype == np.bool_ and dtype != "bool":
            raise SpecError(f"expected {dtype} values, given {value!r}")
        return np.full(shape if array.ndim == 0 else array.shape, array, dtype)

    return initializer


#: Name -> maker; the maker's parameters are the keys a spec may have.
INITIALIZERS: dict[str, Callable[..., Initializer]] = {
    "constant": constant,
    "glorot_normal": glorot_normal,
    "glorot_uniform": glorot_uniform,
    "he": he_uniform,
    "he_normal": he_normal,
    "he_uniform": he_uniform,
    "lecun_normal": lecun_normal,
    "lecun_uniform": lecun_uniform,
    "normal": normal,
    "ones": lambda: constant(1.0),
    "orthogonal": orthogonal,
    "truncated_normal": truncated_normal,
    "uniform": uniform,
    "xavier": glorot_uniform,
    "xavier_normal": glorot_normal,
    "xavier_uniform": glorot_uniform,
    "zeros": lambda: constant(0.0),
}


def resolve_initializer(spec: Any, where: str = "initializer") -> Initializer:
    """The initializer of a spec.

    Args:
        spec: a number or bool for all elements, or an array (nested lists) of the variable's shape; a name; a mapping
            of ``type`` (a name) and its parameters, e.g. ``{"type": "truncated_normal", "stddev": 0.1}``; or a
            function ``f(shape, dtype, rng) -> array``.
        where: the place of the spec, for errors.

    Raises:
        SpecError: an invalid value, or an unknown name or parameter.
    """
    if isinstance(spec, str):
        return _made(spec, {}, where, where)
    if isinstance(spec, Mapping):
        parameters = {key: value for key, value in spec.items() if key != "type"}
        return _made(spec.get("type", ""), parameters, where, f"{where}.type")
    if callable(spec):
        return spec
    if isinstance(spec, int | float | np.ndarray | np.generic | list | tuple):
        return constant(spec)
    raise SpecError(
        "expected a number, an array, a name, a mapping with 'type' or a function, "
        f"given {type(spec).__name__} {spec!r}",
        path=where,
    )


def _made(name: Any, parameters: Mapping[str, Any], where: str, named_at: str) -> Initializer:
    if not isinstance(name, str) or name not in INITIALIZERS:
        raise SpecError(f"unknown initializer {name!r}. {nearest(str(name), INITIALIZERS)}", path=named_at)
    for key, value in parameters.items():
        is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
        if name != "constant" and not is_number:
            raise SpecError(f"expected a number, given {value!r}", path=f"{where}.{key}")
    return call_checked(INITIALIZERS[name], (), parameters, where)
