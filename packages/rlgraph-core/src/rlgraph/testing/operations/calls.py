"""Calls of operations in which specs stand for tensors and symbols for sizes, and what they become."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rlgraph.core.ops import SymbolicDim, SymbolicTensor, TensorSpec
from rlgraph.core.ops.tensor_spec import Shape

#: Sizes to put in for the symbols of a call. None is below 3, so that numbers up to 3 fit everywhere.
SIZES: tuple[Mapping[str, int], ...] = ({"B": 4, "T": 5}, {"B": 7, "T": 3}, {"B": 3, "T": 11})


@dataclass
class Call:
    """One call of an operation.

    Attributes:
        args: the positional arguments; a `TensorSpec` stands for a tensor, a `SymbolicDim` for a size.
        kwargs: the options given by name; no tensors.
    """

    args: list[Any]
    kwargs: dict[str, Any] = field(default_factory=dict)


class Ascending(TensorSpec):
    """A tensor whose elements ascend along its last axis."""


@dataclass(frozen=True, repr=False)
class Indices(TensorSpec):
    """A tensor of indices below `size`; the last one, ``size - 1``, is always among them."""

    size: int | SymbolicDim = 1

    @classmethod
    def into(cls, size: int | SymbolicDim, shape: Shape, dtype: str = "int64") -> Indices:
        """Indices into an axis of `size` elements."""
        return cls(shape, dtype, 0, size if isinstance(size, int) else None, size)


def concrete(value: Any, sizes: Mapping[str, int], rng: np.random.Generator) -> Any:
    """`value` (a `Call` or a part of one) with random arrays for its specs and numbers for its sizes.

    Args:
        value: what `Cases.calls` draws.
        sizes: symbol -> number, for instance one of `SIZES`.
        rng: draws the elements, within the bounds of each spec.
    """
    if isinstance(value, Call):
        args, kwargs = concrete(value.args, sizes, rng), concrete(value.kwargs, sizes, rng)
        return Call(args, kwargs)
    if isinstance(value, TensorSpec):
        shape = concrete(value.shape, sizes, rng)
        if isinstance(value, Indices):
            return _indices(shape, concrete(value.size, sizes, rng), value.dtype, rng)
        array = _elements(value, shape, rng)
        return np.sort(array, axis=-1) if isinstance(value, Ascending) else array
    if isinstance(value, SymbolicDim):
        return eval(repr(value), {"__builtins__": {}}, dict(sizes))
    if isinstance(value, dict):
        return {key: concrete(item, sizes, rng) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(concrete(item, sizes, rng) for item in value)
    return value


def _indices(shape: tuple[int, ...], size: int, dtype: str, rng: np.random.Generator) -> np.ndarray:
    array = np.asarray(rng.integers(0, size, shape), dtype)
    array.reshape(-1)[-1:] = size - 1
    return array


def _elements(spec: TensorSpec, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    if spec.dtype == "bool":
        return np.asarray(rng.random(shape) < 0.5)
    low, high = spec.low, spec.high
    if spec.is_int:
        first = -5 if low is None else int(low)
        end = max(first, 5) + 1 if high is None else int(high)
        return np.asarray(rng.integers(first, end, shape), spec.dtype)
    least = min(-3.0, -3.0 if high is None else high) if low is None else low
    most = max(least, 3.0) if high is None else high
    return np.asarray(least + rng.random(shape) * (most - least), spec.dtype)


def symbolic(value: Any) -> Any:
    """`value` (a `Call` or a part of one) with a `SymbolicTensor` for each spec."""
    if isinstance(value, Call):
        return Call(symbolic(value.args), value.kwargs)
    if isinstance(value, TensorSpec):
        return SymbolicTensor(value)
    return type(value)(map(symbolic, value)) if isinstance(value, list | tuple) else value


def smooth(value: Any, domain: tuple[float, float]) -> Any:
    """`value` (a `Call` or a part of one) made for difference quotients: its floats are float64 within `domain`.

    Their elements then are distinct and off the kinks of an operation with probability 1.
    """
    if isinstance(value, Call):
        return Call(smooth(value.args, domain), value.kwargs)
    if isinstance(value, TensorSpec):
        low, high = domain
        return replace(value, dtype="float64", low=low, high=high) if value.is_float else value
    if value == "float32":  # a dtype that is asked for
        return "float64"
    return type(value)(smooth(item, domain) for item in value) if isinstance(value, list | tuple) else value
