"""The linear recurrence of discounted returns."""

from __future__ import annotations

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops.checks import require_float
from rlgraph.core.ops.contract import operation
from rlgraph.core.ops.elementwise import Operand, broadcast_shapes, common_dtype
from rlgraph.core.ops.reduction import normalize_axis
from rlgraph.core.ops.tensor_spec import TensorSpec


@operation("recurrence")
def linear_recurrence(
    x: TensorSpec, d: Operand, initial: TensorSpec | None = None, reverse: bool = False, axis: int = 0
) -> TensorSpec:
    """``y_t = x_t + d_t * y_{t-1}`` along `axis`, with `initial` (default 0) before the first.

    With `reverse`, ``y_t = x_t + d_t * y_{t+1}`` with `initial` after the last: for rewards and ``gamma * (1 -
    terminated)`` these are discounted returns, for TD errors and ``gamma * lambda`` the advantages of GAE.

    ``x [T, ...]``, `d` a number or a tensor that broadcasts to the shape of `x`, ``initial [...]`` without the axis.
    """
    require_float("linear_recurrence", x)
    position = normalize_axis(axis, len(x.shape), "linear_recurrence")
    common_dtype(x, d)
    if isinstance(d, TensorSpec) and broadcast_shapes(x.shape, d.shape) != x.shape:
        raise InferenceError(f"ops.linear_recurrence: d {d} does not broadcast to x {x}")
    if initial is not None:
        common_dtype(x, initial)
        rest = (*x.shape[:position], *x.shape[position + 1 :])
        if initial.shape != rest:
            raise InferenceError(
                f"ops.linear_recurrence: initial {initial} must have the shape of x {x} without axis {axis}"
            )
    return x.unbounded()
