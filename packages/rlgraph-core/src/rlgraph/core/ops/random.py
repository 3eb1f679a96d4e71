"""Random numbers, drawn from the stream of the component whose graph function draws them.

A component's stream is seeded from the root seed and the component's scope alone: the same seed gives the same run on
the same backend, and other components do not change it. A draw is an effect: it is never removed, merged
with an equal one, or reordered. Draws are not differentiable with respect to their parameters; where that is needed,
scale a standard draw: ``mean + stddev * ops.random_normal(ops.shape(mean))``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops.contract import operation
from rlgraph.core.ops.dims import SymbolicDim
from rlgraph.core.ops.tensor_spec import Shape, TensorSpec


@dataclass(frozen=True)
class Noise:
    """Random numbers of which no value of a tensor decides anything, so that they can be drawn in advance.

    Attributes:
        kind: which numbers, a key of `rlgraph.core.numpy.random.DRAWS`.
        shape: sizes, which may be symbolic.
        dtype: their dtype.
        parameters: of the kind; integers may be symbolic sizes.
    """

    kind: str
    shape: Shape
    dtype: str
    parameters: tuple[Any, ...] = ()


def noise_of(operation_name: str, arguments: Mapping[str, Any], result: TensorSpec) -> Noise | None:
    """The numbers from which a random operation computes its `result`; None if its bounds are tensors."""
    kind = operation_name.removeprefix("random_")
    if kind == "categorical":
        return Noise("gumbel", arguments["logits"].shape, arguments["logits"].dtype)
    if kind == "bernoulli":
        return Noise("fraction", result.shape, arguments["p"].dtype)
    parameters = tuple(value for name, value in arguments.items() if name not in ("shape", "n", "dtype"))
    if any(isinstance(value, TensorSpec) for value in parameters):
        return None
    return Noise(kind, result.shape, result.dtype, parameters)


@operation("random")
def random_uniform(
    shape: Sequence[int], low: float = 0.0, high: float = 1.0, dtype: str | None = None
) -> TensorSpec:
    """Uniform floats in ``[low, high)``; rounding may give `high` itself. Sizes may come from ``ops.shape``."""
    _need_numbers("random_uniform", low=low, high=high)
    if low >= high:
        raise InferenceError(f"ops.random_uniform: low must be below high, given {low} and {high}")
    return _floats("random_uniform", shape, dtype, low, high)


@operation("random")
def random_normal(
    shape: Sequence[int], mean: float = 0.0, stddev: float = 1.0, dtype: str | None = None
) -> TensorSpec:
    """Floats from the normal distribution."""
    _need_deviation("random_normal", mean, stddev)
    return _floats("random_normal", shape, dtype)


@operation("random")
def random_truncated_normal(
    shape: Sequence[int], mean: float = 0.0, stddev: float = 1.0, dtype: str | None = None
) -> TensorSpec:
    """Floats from the normal distribution within two standard deviations of its mean."""
    _need_deviation("random_truncated_normal", mean, stddev)
    return _floats("random_truncated_normal", shape, dtype, mean - 2 * stddev, mean + 2 * stddev)


@operation("random")
def random_integers(shape: Sequence[int], low: Any, high: Any, dtype: str = "int64") -> TensorSpec:
    """Integers from `low` up to but not including `high`.

    Both are integers, sizes from ``ops.shape``, or integer tensors without axes.
    """
    if dtype not in ("int32", "int64"):
        raise InferenceError(f"ops.random_integers draws int32 or int64, given dtype {dtype!r}")
    for name, bound in (("low", low), ("high", high)):
        tensor = isinstance(bound, TensorSpec) and bound.is_int and bound.shape == ()
        size = isinstance(bound, int | SymbolicDim) and not isinstance(bound, bool)
        if not (tensor or size):
            raise InferenceError(
                f"ops.random_integers: {name} must be an integer, a size, or an integer tensor without axes, "
                f"given {bound!r}"
            )
    if isinstance(low, int) and isinstance(high, int) and low >= high:
        raise InferenceError(f"ops.random_integers: low must be below high, given {low} and {high}")
    least = low if isinstance(low, int) else low.low if isinstance(low, TensorSpec) else None
    return TensorSpec(_sizes("random_integers", shape), dtype, least, high if isinstance(high, int) else None)


@operation("random")
def random_permutation(n: int) -> TensorSpec:
    """The integers below `n`, an integer or a size from ``ops.shape``, in random order: int64 [n]."""
    return TensorSpec(_sizes("random_permutation", (n,)), "int64", 0, n if isinstance(n, int) else None)


@operation("random")
def random_categorical(logits: TensorSpec) -> TensorSpec:
    """One index per row of ``logits [..., n]``, with the probabilities ``softmax(logits)``: int64 [...].

    A logit of minus infinity excludes its index.
    """
    if not logits.is_float or not logits.shape:
        raise InferenceError(f"ops.random_categorical needs float logits [..., n], given {logits}")
    categories = logits.shape[-1]
    if categories == 0:
        raise InferenceError(f"ops.random_categorical needs one logit or more, given {logits}")
    return TensorSpec(logits.shape[:-1], "int64", 0, categories if isinstance(categories, int) else None)


@operation("random")
def random_bernoulli(p: TensorSpec) -> TensorSpec:
    """True with the probability `p`, elementwise: bool with the shape of `p`."""
    if not p.is_float:
        raise InferenceError(f"ops.random_bernoulli needs float probabilities, given {p}")
    return TensorSpec(p.shape, "bool")


def _floats(
    name: str, shape: Sequence[int], dtype: str | None, low: float | None = None, high: float | None = None
) -> TensorSpec:
    assert dtype is not None
    spec = TensorSpec(_sizes(name, shape), dtype, low, high)
    if not spec.is_float:
        raise InferenceError(
            f"ops.{name} draws floats, given dtype {dtype!r}; for integers use ops.random_integers"
        )
    return spec


def _sizes(name: str, shape: Sequence[int]) -> Shape:
    def is_size(size: object) -> bool:
        return isinstance(size, SymbolicDim) or (
            isinstance(size, int) and not isinstance(size, bool) and size >= 0
        )

    if not isinstance(shape, list | tuple) or not all(map(is_size, shape)):
        raise InferenceError(
            f"ops.{name}: sizes must be integers >= 0 or come from ops.shape(x), given {shape!r}"
        )
    return tuple(shape)


def _need_deviation(name: str, mean: float, stddev: float) -> None:
    _need_numbers(name, mean=mean, stddev=stddev)
    if stddev <= 0:
        raise InferenceError(f"ops.{name}: stddev must be positive, given {stddev}")


def _need_numbers(name: str, **values: object) -> None:
    for argument, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InferenceError(
                f"ops.{name}: {argument} must be a number, given {value!r}; with tensors, scale and shift "
                f"a standard draw: mean + stddev * ops.random_normal(ops.shape(mean))"
            )
