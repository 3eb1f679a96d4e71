"""Operations that rearrange elements."""

from __future__ import annotations

from collections.abc import Sequence

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops.contract import operation
from rlgraph.core.ops.dims import SymbolicDim, product
from rlgraph.core.ops.elementwise import broadcast_shapes, common_dtype
from rlgraph.core.ops.reduction import normalize_axis
from rlgraph.core.ops.tensor_spec import Shape, TensorSpec


@operation("shaping", view=True)
def reshape(x: TensorSpec, shape: Sequence[int]) -> TensorSpec:
    """`x` in row-major order with another shape; one size may be -1."""
    wanted: list[int | SymbolicDim] = list(shape)
    total = product(x.shape)
    free = [i for i, dim in enumerate(wanted) if isinstance(dim, int) and dim == -1]
    if any(isinstance(dim, int) and dim < -1 for dim in wanted):
        raise InferenceError(f"ops.reshape: a size of {tuple(shape)} is negative")
    if len(free) > 1:
        raise InferenceError(f"ops.reshape: only one size of {tuple(shape)} may be -1")
    rest = product(tuple(dim for i, dim in enumerate(wanted) if i not in free))
    if free:
        wanted[free[0]] = _divide(total, rest, x, shape)
    elif total != rest:
        raise InferenceError(f"ops.reshape: {x} has {total} elements, the shape {tuple(shape)} has {rest}")
    return x.with_shape(tuple(wanted))


def _divide(
    total: int | SymbolicDim, part: int | SymbolicDim, x: TensorSpec, shape: Sequence[int]
) -> int | SymbolicDim:
    if isinstance(total, int) and isinstance(part, int):
        quotient: int | SymbolicDim | None = total // part if part and total % part == 0 else None
    else:
        whole = total if isinstance(total, SymbolicDim) else SymbolicDim({(): total})
        quotient = whole.divide_exactly(part)
    if quotient is None:
        raise InferenceError(f"ops.reshape: {x} does not fit the shape {tuple(shape)}")
    return quotient


@operation("shaping", view=True)
def expand_dims(x: TensorSpec, axis: int) -> TensorSpec:
    """A new axis of size 1 at `axis`."""
    position = normalize_axis(axis, len(x.shape) + 1, "expand_dims")
    return x.with_shape((*x.shape[:position], 1, *x.shape[position:]))


@operation("shaping", view=True)
def squeeze(x: TensorSpec, axis: int) -> TensorSpec:
    """Without the axis `axis`, which must have size 1."""
    position = normalize_axis(axis, len(x.shape), "squeeze")
    if x.shape[position] != 1:
        raise InferenceError(f"ops.squeeze: axis {axis} of {x} has size {x.shape[position]}, not 1")
    return x.with_shape((*x.shape[:position], *x.shape[position + 1 :]))


@operation("shaping", view=True)
def permute_dims(x: TensorSpec, axes: Sequence[int]) -> TensorSpec:
    """The axes of `x` in the order `axes`."""
    rank = len(x.shape)
    positions = [normalize_axis(axis, rank, "permute_dims") for axis in axes]
    if sorted(positions) != list(range(rank)):
        raise InferenceError(f"ops.permute_dims: {tuple(axes)} is no order of the {rank} axes of {x}")
    return x.with_shape(tuple(x.shape[p] for p in positions))


@operation("shaping", view=True)
def broadcast_to(x: TensorSpec, shape: Sequence[int]) -> TensorSpec:
    """`x` repeated to `shape`."""
    target: Shape = tuple(shape)
    if broadcast_shapes(x.shape, target) != target:
        raise InferenceError(f"ops.broadcast_to: {x} does not broadcast to {target}")
    return x.with_shape(target)


def _same_kind(name: str, arrays: Sequence[TensorSpec]) -> None:
    if not arrays:
        raise InferenceError(f"ops.{name} needs at least one tensor")
    common_dtype(*arrays)


def _union(arrays: Sequence[TensorSpec], shape: Shape) -> TensorSpec:
    lows = [array.low for array in arrays]
    highs = [array.high for array in arrays]
    low = None if any(bound is None for bound in lows) else min(bound for bound in lows if bound is not None)
    high = (
        None if any(bound is None for bound in highs) else max(bound for bound in highs if bound is not None)
    )
    return TensorSpec(shape, arrays[0].dtype, low, high)


@operation("shaping")
def concat(arrays: Sequence[TensorSpec], axis: int = 0) -> TensorSpec:
    """The `arrays` one after the other along `axis`."""
    _same_kind("concat", arrays)
    first = arrays[0]
    position = normalize_axis(axis, len(first.shape), "concat")
    size: int | SymbolicDim = 0
    for array in arrays:
        rest = (*array.shape[:position], *array.shape[position + 1 :])
        if rest != (*first.shape[:position], *first.shape[position + 1 :]):
            raise InferenceError(f"ops.concat: {first} and {array} differ outside axis {axis}")
        size = size + array.shape[position]
    return _union(arrays, (*first.shape[:position], size, *first.shape[position + 1 :]))


@operation("shaping")
def stack(arrays: Sequence[TensorSpec], axis: int = 0) -> TensorSpec:
    """The equally shaped `arrays` along a new axis."""
    _same_kind("stack", arrays)
    first = arrays[0]
    for array in arrays:
        if array.shape != first.shape:
            raise InferenceError(f"ops.stack: {first} and {array} differ in shape")
    position = normalize_axis(axis, len(first.shape) + 1, "stack")
    return _union(arrays, (*first.shape[:position], len(arrays), *first.shape[position:]))


@operation("shaping")
def zeros(shape: Sequence[int], dtype: str | None = None) -> TensorSpec:
    """Zeros of `shape` (sizes may come from ``ops.shape``); dtype: the execution's float."""
    assert dtype is not None
    return TensorSpec(tuple(shape), dtype, 0, 1 if dtype[0] in "iu" else 0)


@operation("shaping")
def ones(shape: Sequence[int], dtype: str | None = None) -> TensorSpec:
    """Ones of `shape`; dtype: the execution's float."""
    assert dtype is not None
    return TensorSpec(tuple(shape), dtype, 1, 2 if dtype[0] in "iu" else 1)


@operation("shaping")
def zeros_like(x: TensorSpec) -> TensorSpec:
    """Zeros with the shape and dtype of `x`."""
    return TensorSpec(x.shape, x.dtype)


@operation("shaping")
def ones_like(x: TensorSpec) -> TensorSpec:
    """Ones with the shape and dtype of `x`."""
    return TensorSpec(x.shape, x.dtype)
