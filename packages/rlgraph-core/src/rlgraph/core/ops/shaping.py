"""Operations that change shapes or rearrange elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops.checks import require_size, require_whole
from rlgraph.core.ops.contract import operation
from rlgraph.core.ops.dims import RankSize, SymbolicDim, product
from rlgraph.core.ops.elementwise import broadcast_shapes, common_dtype
from rlgraph.core.ops.reduction import normalize_axis, reduced_shape
from rlgraph.core.ops.tensor_spec import Shape, TensorSpec


@operation("shaping", view=True)
def reshape(x: TensorSpec, shape: Sequence[int]) -> TensorSpec:
    """`x` in row-major order with another shape; one size may be -1.

    -1 may divide an unknown size: ``x [B, 3]`` as ``(4, -1, 3)`` is ``[4, B//4, 3]``, for B divisible by 4. An
    unknown axis may also be split by an unknown size: ``(-1, T, 3)`` is ``[B//T, T, 3]``. Axes that were split in this
    way can be joined again: ``[T, B//T, 3]`` as ``(B, 3)``.
    """
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
        wanted[free[0]] = _with_rank(wanted, free[0], x.shape)
    elif total != rest and SymbolicDim.undivided(total) != SymbolicDim.undivided(rest):
        raise InferenceError(f"ops.reshape: {x} has {total} elements, the shape {tuple(shape)} has {rest}")
    return x.with_shape(tuple(wanted))


def _with_rank(wanted: Sequence[int | SymbolicDim], axis: int, given: Shape) -> int | SymbolicDim:
    """The size of `wanted` at `axis`; a rank if it is made of one: of a part of it, or with sizes in front of it.

    Time and batch together are a batch.
    """
    sizes = [dim for dim in wanted if isinstance(dim, int)]
    axes = [dim for dim in given if isinstance(dim, int)]
    if len(sizes) < len(wanted) or len(axes) < len(given) or not math.prod(axes):
        return wanted[axis]
    start, end = math.prod(sizes[:axis]), math.prod(sizes[: axis + 1])
    bounds = [math.prod(axes[:i]) for i in range(len(axes) + 1)]
    # An axis of one element lies between two others; a rank of one is a part of what is in front of it.
    covered = [
        dim
        for dim, low, high in zip(axes, bounds, bounds[1:], strict=False)
        if (low < end and high > start) or (low == high and isinstance(dim, RankSize) and start <= low <= end)
    ]
    if not covered or not isinstance(covered[-1], RankSize):
        return sizes[axis]
    ranks = {dim.rank for dim in covered if isinstance(dim, RankSize)}
    return RankSize(sizes[axis], "batch" if "batch" in ranks else "time")


def _divide(
    total: int | SymbolicDim, part: int | SymbolicDim, x: TensorSpec, shape: Sequence[int]
) -> int | SymbolicDim:
    if isinstance(total, int) and isinstance(part, int):
        quotient: int | SymbolicDim | None = total // part if part and total % part == 0 else None
    else:
        whole = total if isinstance(total, SymbolicDim) else SymbolicDim({(): total})
        quotient = whole.divide_exactly(part)
        if quotient is None and isinstance(part, int) and part > 0:
            quotient = whole.part_of_symbols(part)
        if quotient is None:
            quotient = _part_of_axis(list(x.shape), [*shape])
    if quotient is None:
        raise InferenceError(f"ops.reshape: {x} does not fit the shape {tuple(shape)}")
    return quotient


def _part_of_axis(axes: list[int | SymbolicDim], wanted: list[int | SymbolicDim]) -> int | SymbolicDim | None:
    """The size for -1 if one unknown axis is split and all others stay; else None."""
    while axes and wanted and axes[-1] == wanted[-1]:
        axes.pop(), wanted.pop()
    if len(axes) != 1 or not isinstance(axes[0], SymbolicDim) or -1 not in wanted:
        return None
    part = product(tuple(dim for dim in wanted if dim != -1))
    if isinstance(part, SymbolicDim):
        return SymbolicDim.symbol(f"({axes[0]})//({part})")
    return axes[0] // part if part > 0 else None


@operation("shaping", view=True)
def expand_dims(x: TensorSpec, axis: int) -> TensorSpec:
    """`x` with a new axis of size 1 at `axis`."""
    position = normalize_axis(axis, len(x.shape) + 1, "expand_dims")
    return x.with_shape((*x.shape[:position], 1, *x.shape[position:]))


@operation("shaping", view=True)
def squeeze(x: TensorSpec, axis: int) -> TensorSpec:
    """`x` without the axis `axis`, which must have size 1."""
    position = normalize_axis(axis, len(x.shape), "squeeze")
    if x.shape[position] != 1:
        raise InferenceError(f"ops.squeeze: axis {axis} of {x} has size {x.shape[position]}, not 1")
    return x.with_shape((*x.shape[:position], *x.shape[position + 1 :]))


@operation("shaping", view=True)
def permute_dims(x: TensorSpec, axes: Sequence[int]) -> TensorSpec:
    """`x` with its axes in the order `axes`."""
    rank = len(x.shape)
    positions = [normalize_axis(axis, rank, "permute_dims") for axis in axes]
    if sorted(positions) != list(range(rank)):
        raise InferenceError(
            f"ops.permute_dims: {tuple(axes)} is not a permutation of the {rank} axes of {x}"
        )
    return x.with_shape(tuple(x.shape[p] for p in positions))


@operation("shaping", view=True)
def moveaxis(x: TensorSpec, source: int, destination: int) -> TensorSpec:
    """`x` with the axis `source` moved to `destination`; the others keep their order."""
    rank = len(x.shape)
    shape = list(x.shape)
    size = shape.pop(normalize_axis(source, rank, "moveaxis"))
    shape.insert(normalize_axis(destination, rank, "moveaxis"), size)
    return x.with_shape(tuple(shape))


@operation("shaping", view=True)
def flatten(x: TensorSpec, start_axis: int = 0) -> TensorSpec:
    """`x` with `start_axis` and all later axes merged into one, in row-major order."""
    position = normalize_axis(start_axis, len(x.shape), "flatten")
    return x.with_shape((*x.shape[:position], product(x.shape[position:])))


@operation("shaping", view=True)
def broadcast_to(x: TensorSpec, shape: Sequence[int]) -> TensorSpec:
    """`x` broadcast to `shape`."""
    target: Shape = tuple(shape)
    if broadcast_shapes(x.shape, target) != target:
        raise InferenceError(f"ops.broadcast_to: {x} does not broadcast to {target}")
    return x.with_shape(target)


def _same_kind(name: str, arrays: Sequence[TensorSpec]) -> None:
    if not arrays:
        raise InferenceError(f"ops.{name} needs at least one tensor")
    common_dtype(*arrays)


def _union(arrays: Sequence[TensorSpec], shape: Shape) -> TensorSpec:
    return arrays[0].with_shape(shape).bounded_as(*arrays[1:])


def _resized(x: TensorSpec, position: int, size: int | SymbolicDim) -> TensorSpec:
    return x.with_shape((*x.shape[:position], size, *x.shape[position + 1 :]))


def _per_axis(name: str, parameter: str, x: TensorSpec, values: Sequence[Any]) -> None:
    if not isinstance(values, list | tuple) or len(values) != len(x.shape):
        raise InferenceError(
            f"ops.{name}: {parameter} must have one entry for each axis of {x}, given {values!r}"
        )


@operation("shaping")
def concat(arrays: Sequence[TensorSpec], axis: int = 0) -> TensorSpec:
    """The `arrays` concatenated along `axis`."""
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
    """`arrays` of the same shape, stacked along a new axis."""
    _same_kind("stack", arrays)
    first = arrays[0]
    for array in arrays:
        if array.shape != first.shape:
            raise InferenceError(f"ops.stack: {first} and {array} differ in shape")
    position = normalize_axis(axis, len(first.shape) + 1, "stack")
    return _union(arrays, (*first.shape[:position], len(arrays), *first.shape[position:]))


@operation("shaping", view=True)
def split(x: TensorSpec, sizes: Sequence[int], axis: int = 0) -> tuple[TensorSpec, ...]:
    """`x` cut along `axis` into parts of these `sizes`, which add up to its size."""
    position = normalize_axis(axis, len(x.shape), "split")
    if not isinstance(sizes, list | tuple) or not sizes:
        raise InferenceError(f"ops.split: sizes must be a list with the size of each part, given {sizes!r}")
    total: int | SymbolicDim = 0
    for size in sizes:
        total = total + require_size("split", "a size", size)
    if total != x.shape[position]:
        raise InferenceError(
            f"ops.split: the sizes {tuple(sizes)} add up to {total}, axis {axis} of {x} has {x.shape[position]}"
        )
    return tuple(_resized(x, position, size) for size in sizes)


@operation("shaping", view=True)
def unstack(x: TensorSpec, axis: int = 0) -> tuple[TensorSpec, ...]:
    """The slices of `x` along `axis`, whose size must be fixed."""
    position = normalize_axis(axis, len(x.shape), "unstack")
    size = x.shape[position]
    if isinstance(size, SymbolicDim):
        raise InferenceError(f"ops.unstack: axis {axis} of {x} has the unknown size {size}")
    return (x.with_shape((*x.shape[:position], *x.shape[position + 1 :])),) * size


@operation("shaping", view=True)
def flip(x: TensorSpec, axis: int | tuple[int, ...] | None = None) -> TensorSpec:
    """`x` in reverse order along `axis` (None: all axes)."""
    if axis is not None:
        reduced_shape(x.shape, axis, False, "flip")
    return x


@operation("shaping")
def roll(x: TensorSpec, shift: int, axis: int) -> TensorSpec:
    """`x` shifted by `shift` places along `axis`, wrapping around."""
    require_whole("roll", "shift", shift, least=None)
    normalize_axis(axis, len(x.shape), "roll")
    return x


@operation("shaping")
def tile(x: TensorSpec, repetitions: Sequence[int]) -> TensorSpec:
    """`x` tiled; `repetitions` has one number for each axis."""
    _per_axis("tile", "repetitions", x, repetitions)
    counts = [require_size("tile", "a number of repetitions", count) for count in repetitions]
    return x.with_shape(tuple(size * count for size, count in zip(x.shape, counts, strict=True)))


@operation("shaping")
def repeat(x: TensorSpec, repeats: int, axis: int) -> TensorSpec:
    """Each slice of `x` along `axis`, repeated `repeats` times in a row."""
    position = normalize_axis(axis, len(x.shape), "repeat")
    return _resized(x, position, x.shape[position] * require_whole("repeat", "repeats", repeats))


@operation("shaping")
def pad(x: TensorSpec, padding: Sequence[tuple[int, int]], value: float = 0) -> TensorSpec:
    """`x` padded with `value`: `padding` holds (before, after) for each axis."""
    _per_axis("pad", "padding", x, padding)
    common_dtype(x, bool(value) if x.dtype == "bool" and value in (0, 1) else value)
    shape: list[int | SymbolicDim] = []
    for size, pair in zip(x.shape, padding, strict=True):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise InferenceError(f"ops.pad: padding must be pairs (before, after), given {padding!r}")
        front, behind = (require_whole("pad", "a number of elements", count) for count in pair)
        shape.append(size + front + behind)
    return _with_value(x, value).with_shape(tuple(shape))


def _with_value(x: TensorSpec, value: float) -> TensorSpec:
    """The spec of `x` with `value` among its elements."""
    return _union([x, TensorSpec((), x.dtype, value, value + 1 if x.is_int else value)], x.shape)


def _triangle(name: str, x: TensorSpec, k: int) -> TensorSpec:
    require_whole(name, "k", k, least=None)
    if len(x.shape) < 2:
        raise InferenceError(f"ops.{name} needs a tensor [..., M, N], given {x}")
    return _with_value(x, 0)


@operation("shaping")
def tril(x: TensorSpec, k: int = 0) -> TensorSpec:
    """``x [..., M, N]`` on and below the `k`-th diagonal, 0 above it."""
    return _triangle("tril", x, k)


@operation("shaping")
def triu(x: TensorSpec, k: int = 0) -> TensorSpec:
    """``x [..., M, N]`` on and above the `k`-th diagonal, 0 below it."""
    return _triangle("triu", x, k)
