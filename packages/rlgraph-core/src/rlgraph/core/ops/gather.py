"""Operations that pick elements by index."""

from __future__ import annotations

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops.contract import operation
from rlgraph.core.ops.reduction import normalize_axis
from rlgraph.core.ops.tensor_spec import TensorSpec


def need_indices(name: str, indices: TensorSpec) -> None:
    if indices.dtype not in ("int32", "int64"):
        raise InferenceError(f"ops.{name} needs int32 or int64 indices, given {indices}")


@operation("gather")
def take(x: TensorSpec, indices: TensorSpec, axis: int = 0) -> TensorSpec:
    """The slices of `x` along `axis` that `indices` name; never a view."""
    need_indices("take", indices)
    position = normalize_axis(axis, len(x.shape), "take")
    return x.with_shape((*x.shape[:position], *indices.shape, *x.shape[position + 1 :]))


@operation("gather")
def take_along_axis(x: TensorSpec, indices: TensorSpec, axis: int = -1) -> TensorSpec:
    """One element of `x` per index: `indices` has the rank of `x` and its sizes except along `axis`."""
    need_indices("take_along_axis", indices)
    position = normalize_axis(axis, len(x.shape), "take_along_axis")
    others = [(a, b) for i, (a, b) in enumerate(zip(x.shape, indices.shape, strict=False)) if i != position]
    if len(x.shape) != len(indices.shape) or any(a != b for a, b in others):
        raise InferenceError(f"ops.take_along_axis: {indices} does not index {x} along axis {axis}")
    return x.with_shape(indices.shape)


@operation("gather")
def one_hot(indices: TensorSpec, depth: int, dtype: str | None = None) -> TensorSpec:
    """1 at each index of a new last axis of size `depth`, else 0."""
    need_indices("one_hot", indices)
    assert dtype is not None
    return TensorSpec((*indices.shape, depth), dtype, 0, 2 if dtype[0] in "iu" else 1)
