"""Operations that fold axes away."""

from __future__ import annotations

from dataclasses import replace

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops.contract import operation
from rlgraph.core.ops.dims import SymbolicDim
from rlgraph.core.ops.tensor_spec import Shape, TensorSpec

Axis = int | tuple[int, ...] | None


def normalize_axis(axis: int, rank: int, name: str) -> int:
    """A non-negative axis.

    Raises:
        InferenceError: there is no such axis.
    """
    if isinstance(axis, bool) or not isinstance(axis, int) or not -rank <= axis < rank:
        raise InferenceError(f"ops.{name}: axis {axis!r} does not exist in a tensor of rank {rank}")
    return axis % rank


def reduced_shape(shape: Shape, axis: Axis, keepdims: bool, name: str) -> Shape:
    """The shape after folding `axis` (None: all)."""
    rank = len(shape)
    axes = range(rank) if axis is None else (axis,) if isinstance(axis, int) else axis
    folded = {normalize_axis(a, rank, name) for a in axes}
    # Frameworks disagree on what an empty tuple or an axis named twice means.
    if axis is not None and not (folded and len(folded) == len(axes)):
        raise InferenceError(f"ops.{name}: axis must be None, an axis, or different axes, given {axis!r}")
    if keepdims:
        return tuple(1 if i in folded else dim for i, dim in enumerate(shape))
    return tuple(dim for i, dim in enumerate(shape) if i not in folded)


def _number(name: str, x: TensorSpec, floats_only: bool = False) -> None:
    if not (x.is_float or (x.is_int and not floats_only)):
        raise InferenceError(f"ops.{name} needs a {'float' if floats_only else 'number'} tensor, given {x}")


@operation("reduction")
def mean(x: TensorSpec, axis: Axis = None, keepdims: bool = False) -> TensorSpec:
    """Arithmetic mean over `axis`."""
    _number("mean", x, floats_only=True)
    return x.with_shape(reduced_shape(x.shape, axis, keepdims, "mean"))


@operation("reduction")
def sum_(x: TensorSpec, axis: Axis = None, keepdims: bool = False) -> TensorSpec:
    """Sum over `axis`, in the dtype of `x`."""
    _number("sum", x)
    return x.unbounded().with_shape(reduced_shape(x.shape, axis, keepdims, "sum"))


@operation("reduction")
def max_(x: TensorSpec, axis: Axis = None, keepdims: bool = False) -> TensorSpec:
    """Largest element over `axis`."""
    _number("max", x)
    return x.with_shape(reduced_shape(x.shape, axis, keepdims, "max"))


@operation("reduction")
def min_(x: TensorSpec, axis: Axis = None, keepdims: bool = False) -> TensorSpec:
    """Smallest element over `axis`."""
    _number("min", x)
    return x.with_shape(reduced_shape(x.shape, axis, keepdims, "min"))


@operation("reduction")
def all_(x: TensorSpec, axis: Axis = None, keepdims: bool = False) -> TensorSpec:
    """True where all elements over `axis` are true."""
    if x.dtype != "bool":
        raise InferenceError(f"ops.all needs a bool tensor, given {x}")
    return x.with_shape(reduced_shape(x.shape, axis, keepdims, "all"))


@operation("reduction")
def argmax(x: TensorSpec, axis: int) -> TensorSpec:
    """Index (int64) of the first largest element along `axis`."""
    _number("argmax", x)
    size = x.shape[normalize_axis(axis, len(x.shape), "argmax")]
    high = None if isinstance(size, SymbolicDim) else size
    return TensorSpec(reduced_shape(x.shape, axis, False, "argmax"), "int64", 0, high)


@operation("reduction")
def softmax(x: TensorSpec, axis: int = -1) -> TensorSpec:
    """``exp(x) / sum(exp(x))`` along `axis`, computed without overflow."""
    _number("softmax", x, floats_only=True)
    normalize_axis(axis, len(x.shape), "softmax")
    return replace(x, low=0.0, high=1.0)


@operation("reduction")
def log_softmax(x: TensorSpec, axis: int = -1) -> TensorSpec:
    """The logarithm of `softmax`, computed without overflow."""
    _number("log_softmax", x, floats_only=True)
    normalize_axis(axis, len(x.shape), "log_softmax")
    return replace(x, low=None, high=0.0)
