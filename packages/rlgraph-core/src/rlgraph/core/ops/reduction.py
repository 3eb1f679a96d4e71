"""Operations that reduce axes."""

from __future__ import annotations

from dataclasses import replace

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops.checks import require_bool, require_float, require_number, require_whole
from rlgraph.core.ops.contract import operation
from rlgraph.core.ops.dims import SymbolicDim, product
from rlgraph.core.ops.tensor_spec import Shape, TensorSpec

Axis = int | tuple[int, ...] | None


def normalize_axis(axis: int, rank: int, name: str) -> int:
    """`axis` as a non-negative integer.

    Raises:
        InferenceError: `axis` does not exist.
    """
    if isinstance(axis, bool) or not isinstance(axis, int) or not -rank <= axis < rank:
        raise InferenceError(f"ops.{name}: axis {axis!r} does not exist in a tensor of rank {rank}")
    return axis % rank


def reduced_shape(shape: Shape, axis: Axis, keepdims: bool, name: str) -> Shape:
    """The shape after reduction over `axis` (None: all)."""
    rank = len(shape)
    axes = range(rank) if axis is None else (axis,) if isinstance(axis, int) else axis
    folded = {normalize_axis(a, rank, name) for a in axes}
    # Frameworks disagree about an empty tuple and about repeated axes.
    if axis is not None and not (folded and len(folded) == len(axes)):
        raise InferenceError(f"ops.{name}: axis must be None, an axis, or different axes, given {axis!r}")
    if keepdims:
        return tuple(1 if i in folded else dim for i, dim in enumerate(shape))
    return tuple(dim for i, dim in enumerate(shape) if i not in folded)


def _require_elements(name: str, x: TensorSpec, axis: Axis) -> None:
    """Check that no reduced axis is known to be empty: frameworks disagree about what that gives."""
    kept = reduced_shape(x.shape, axis, True, name)
    if any(
        isinstance(size, int) and size == 0 and left == 1 for size, left in zip(x.shape, kept, strict=True)
    ):
        raise InferenceError(f"ops.{name}: axis {axis} of {x} has no elements")


@operation("reduction")
def mean(x: TensorSpec, axis: Axis = None, keepdims: bool = False) -> TensorSpec:
    """Arithmetic mean over `axis`."""
    require_float("mean", x)
    return x.with_shape(reduced_shape(x.shape, axis, keepdims, "mean"))


@operation("reduction")
def sum_(x: TensorSpec, axis: Axis = None, keepdims: bool = False) -> TensorSpec:
    """Sum over `axis`, in the dtype of `x`."""
    require_number("sum", x)
    return x.unbounded().with_shape(reduced_shape(x.shape, axis, keepdims, "sum"))


@operation("reduction")
def max_(x: TensorSpec, axis: Axis = None, keepdims: bool = False) -> TensorSpec:
    """Largest element over `axis`."""
    require_number("max", x)
    _require_elements("max", x, axis)
    return x.with_shape(reduced_shape(x.shape, axis, keepdims, "max"))


@operation("reduction")
def min_(x: TensorSpec, axis: Axis = None, keepdims: bool = False) -> TensorSpec:
    """Smallest element over `axis`."""
    require_number("min", x)
    _require_elements("min", x, axis)
    return x.with_shape(reduced_shape(x.shape, axis, keepdims, "min"))


@operation("reduction")
def all_(x: TensorSpec, axis: Axis = None, keepdims: bool = False) -> TensorSpec:
    """True where all elements over `axis` are true."""
    require_bool("all", x)
    return x.with_shape(reduced_shape(x.shape, axis, keepdims, "all"))


@operation("reduction")
def any_(x: TensorSpec, axis: Axis = None, keepdims: bool = False) -> TensorSpec:
    """True where an element over `axis` is true."""
    require_bool("any", x)
    return x.with_shape(reduced_shape(x.shape, axis, keepdims, "any"))


@operation("reduction")
def count_nonzero(x: TensorSpec, axis: Axis = None, keepdims: bool = False) -> TensorSpec:
    """The number of elements (int64) over `axis` that are not 0 or False."""
    shape = reduced_shape(x.shape, axis, keepdims, "count_nonzero")
    total = product(x.shape)
    return TensorSpec(shape, "int64", 0, None if isinstance(total, SymbolicDim) else total + 1)


@operation("reduction")
def prod(x: TensorSpec, axis: Axis = None, keepdims: bool = False) -> TensorSpec:
    """Product over `axis`, in the dtype of `x`."""
    require_number("prod", x)
    return x.unbounded().with_shape(reduced_shape(x.shape, axis, keepdims, "prod"))


@operation("reduction")
def var(x: TensorSpec, axis: Axis = None, keepdims: bool = False, correction: int = 0) -> TensorSpec:
    """Variance over `axis`: the sum of squared deviations from the mean, divided by ``N - correction``."""
    require_float("var", x)
    _require_elements("var", x, axis)
    require_whole("var", "correction", correction)
    return TensorSpec(reduced_shape(x.shape, axis, keepdims, "var"), x.dtype, 0.0, None)


@operation("reduction")
def std(x: TensorSpec, axis: Axis = None, keepdims: bool = False, correction: int = 0) -> TensorSpec:
    """Standard deviation over `axis`: the square root of `var`."""
    require_float("std", x)
    _require_elements("std", x, axis)
    require_whole("std", "correction", correction)
    return TensorSpec(reduced_shape(x.shape, axis, keepdims, "std"), x.dtype, 0.0, None)


@operation("reduction")
def logsumexp(x: TensorSpec, axis: Axis = None, keepdims: bool = False) -> TensorSpec:
    """``log(sum(exp(x)))`` over `axis`, computed without overflow."""
    require_float("logsumexp", x)
    _require_elements("logsumexp", x, axis)
    return TensorSpec(reduced_shape(x.shape, axis, keepdims, "logsumexp"), x.dtype, x.low, None)


def _index_along(x: TensorSpec, axis: int, name: str) -> TensorSpec:
    require_number(name, x)
    _require_elements(name, x, axis)
    size = x.shape[normalize_axis(axis, len(x.shape), name)]
    high = None if isinstance(size, SymbolicDim) else size
    return TensorSpec(reduced_shape(x.shape, axis, False, name), "int64", 0, high)


@operation("reduction")
def argmax(x: TensorSpec, axis: int) -> TensorSpec:
    """Index (int64) of the first largest element along `axis`."""
    return _index_along(x, axis, "argmax")


@operation("reduction")
def argmin(x: TensorSpec, axis: int) -> TensorSpec:
    """Index (int64) of the first smallest element along `axis`."""
    return _index_along(x, axis, "argmin")


@operation("reduction")
def cumulative_sum(x: TensorSpec, axis: int) -> TensorSpec:
    """Cumulative sums along `axis`, in the dtype of `x`."""
    require_number("cumulative_sum", x)
    normalize_axis(axis, len(x.shape), "cumulative_sum")
    return x.unbounded()


@operation("reduction")
def cumulative_prod(x: TensorSpec, axis: int) -> TensorSpec:
    """Cumulative products along `axis`, in the dtype of `x`."""
    require_number("cumulative_prod", x)
    normalize_axis(axis, len(x.shape), "cumulative_prod")
    return x.unbounded()


@operation("reduction")
def softmax(x: TensorSpec, axis: int = -1) -> TensorSpec:
    """``exp(x) / sum(exp(x))`` along `axis`, computed without overflow."""
    require_float("softmax", x)
    _require_elements("softmax", x, normalize_axis(axis, len(x.shape), "softmax"))
    return replace(x, low=0.0, high=1.0)


@operation("reduction")
def log_softmax(x: TensorSpec, axis: int = -1) -> TensorSpec:
    """The logarithm of `softmax`, computed without overflow."""
    require_float("log_softmax", x)
    _require_elements("log_softmax", x, normalize_axis(axis, len(x.shape), "log_softmax"))
    return replace(x, low=None, high=0.0)
