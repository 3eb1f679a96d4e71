"""Operations that sort elements, stably in both directions."""

from __future__ import annotations

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops.checks import require_number, require_rank, require_whole
from rlgraph.core.ops.contract import operation
from rlgraph.core.ops.dims import SymbolicDim
from rlgraph.core.ops.elementwise import common_dtype
from rlgraph.core.ops.reduction import normalize_axis
from rlgraph.core.ops.tensor_spec import TensorSpec


def _exclusive(size: int | SymbolicDim, more: int = 0) -> int | None:
    """The exclusive upper bound of indices into an axis of this size."""
    return None if isinstance(size, SymbolicDim) else size + more


@operation("sorting")
def sort(x: TensorSpec, axis: int = -1, descending: bool = False) -> TensorSpec:
    """`x` sorted along `axis`."""
    require_number("sort", x)
    normalize_axis(axis, len(x.shape), "sort")
    return x


@operation("sorting")
def argsort(x: TensorSpec, axis: int = -1, descending: bool = False) -> TensorSpec:
    """The indices (int64) that sort `x` along `axis`; equal elements keep their order."""
    require_number("argsort", x)
    size = x.shape[normalize_axis(axis, len(x.shape), "argsort")]
    return TensorSpec(x.shape, "int64", 0, _exclusive(size))


@operation("sorting")
def top_k(x: TensorSpec, k: int, axis: int = -1) -> tuple[TensorSpec, TensorSpec]:
    """The `k` largest elements along `axis`, the largest first, and their indices (int64)."""
    require_number("top_k", x)
    position = normalize_axis(axis, len(x.shape), "top_k")
    require_whole("top_k", "k", k, least=1)
    size = x.shape[position]
    if isinstance(size, int) and k > size:
        raise InferenceError(f"ops.top_k: axis {axis} of {x} has {size} elements, fewer than k={k}")
    shape = (*x.shape[:position], k, *x.shape[position + 1 :])
    return x.with_shape(shape), TensorSpec(shape, "int64", 0, _exclusive(size))


@operation("sorting")
def searchsorted(x1: TensorSpec, x2: TensorSpec, side: str = "left") -> TensorSpec:
    """Insertion indices (int64) of the elements of `x2` into the ascending ``x1 [N]``.

    ``side="left"`` inserts before equal elements, ``"right"`` after them.
    """
    require_number("searchsorted", x1, x2)
    common_dtype(x1, x2)
    require_rank("searchsorted", x1, 1, "[N] to search in")
    if side not in ("left", "right"):
        raise InferenceError(f"ops.searchsorted: side must be 'left' or 'right', given {side!r}")
    return TensorSpec(x2.shape, "int64", 0, _exclusive(x1.shape[0], more=1))
