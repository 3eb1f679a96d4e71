"""Operations that select elements by index."""

from __future__ import annotations

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops.checks import require_bool, require_indices, require_number, require_size
from rlgraph.core.ops.contract import DATA_DEPENDENT, operation
from rlgraph.core.ops.reduction import normalize_axis
from rlgraph.core.ops.tensor_spec import TensorSpec


def _require_slices(name: str, x: TensorSpec, position: int, indices: TensorSpec) -> None:
    """Check that there is something to take along an axis that is known to be empty: no index lies inside."""
    if isinstance(x.shape[position], int) and x.shape[position] == 0 and 0 not in indices.shape:
        raise InferenceError(
            f"ops.{name}: axis {position} of {x} is empty: there is nothing to take at {indices}"
        )


@operation("gather")
def take(x: TensorSpec, indices: TensorSpec, axis: int = 0) -> TensorSpec:
    """The slices of `x` at `indices` (from 0) along `axis`; never a view."""
    require_indices("take", indices)
    position = normalize_axis(axis, len(x.shape), "take")
    _require_slices("take", x, position, indices)
    return x.with_shape((*x.shape[:position], *indices.shape, *x.shape[position + 1 :]))


@operation("gather")
def take_along_axis(x: TensorSpec, indices: TensorSpec, axis: int = -1) -> TensorSpec:
    """One element of `x` per index: `indices` has the rank of `x` and its sizes except along `axis`.

    Unlike in NumPy, sizes of 1 do not broadcast: use `broadcast_to`.
    """
    require_indices("take_along_axis", indices)
    position = normalize_axis(axis, len(x.shape), "take_along_axis")
    _require_slices("take_along_axis", x, position, indices)
    others = [(a, b) for i, (a, b) in enumerate(zip(x.shape, indices.shape, strict=False)) if i != position]
    if len(x.shape) != len(indices.shape) or any(a != b for a, b in others):
        wanted = ", ".join("any" if i == position else str(size) for i, size in enumerate(x.shape))
        raise InferenceError(
            f"ops.take_along_axis: expected indices [{wanted}] for {x} along axis {axis}, given {indices}; sizes of 1 "
            "do not broadcast: use ops.broadcast_to"
        )
    return x.with_shape(indices.shape)


@operation("gather")
def one_hot(indices: TensorSpec, depth: int, dtype: str | None = None) -> TensorSpec:
    """1 at each index of a new last axis of size `depth`, else 0."""
    require_indices("one_hot", indices)
    assert dtype is not None
    return TensorSpec((*indices.shape, depth), dtype, 0, 2 if dtype[0] in "iu" else 1)


@operation("gather", sized_by="mask")
def boolean_mask(x: TensorSpec, mask: TensorSpec) -> TensorSpec:
    """The slices of `x` where `mask` is true: ``x [S..., ...], mask [S...] -> [N, ...]``.

    N is a new size, equal for all tensors to which one graph function applies the same mask.
    """
    require_bool("boolean_mask", mask)
    rank = len(mask.shape)
    if rank == 0 or x.shape[:rank] != mask.shape:
        raise InferenceError(f"ops.boolean_mask: the mask {mask} does not fit the first axes of {x}")
    return x.with_shape((DATA_DEPENDENT, *x.shape[rank:]))


@operation("gather")
def segment_sum(values: TensorSpec, segment_ids: TensorSpec, num_segments: int) -> TensorSpec:
    """Sums of the slices with the same id: ``values [N, ...], segment_ids [N] -> [num_segments, ...]``.

    Ids are in ``[0, num_segments)``, in any order; a segment without a slice is 0.
    """
    require_number("segment_sum", values)
    require_indices("segment_sum", segment_ids)
    size = require_size("segment_sum", "num_segments", num_segments)
    if len(segment_ids.shape) != 1 or segment_ids.shape != values.shape[:1]:
        raise InferenceError(
            f"ops.segment_sum needs values [N, ...] and segment_ids [N], given {values} and {segment_ids}"
        )
    return values.unbounded().with_shape((size, *values.shape[1:]))
