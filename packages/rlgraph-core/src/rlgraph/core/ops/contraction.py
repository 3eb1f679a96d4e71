"""Products that sum over a shared axis."""

from __future__ import annotations

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops.contract import operation
from rlgraph.core.ops.elementwise import broadcast_shapes, common_dtype
from rlgraph.core.ops.tensor_spec import TensorSpec


@operation("contraction")
def matmul(x: TensorSpec, y: TensorSpec) -> TensorSpec:
    """``x [..., M, K] @ y [..., K, N] -> [..., M, N]``; leading axes broadcast."""
    if len(x.shape) < 2 or len(y.shape) < 2:
        raise InferenceError(f"ops.matmul needs two tensors of rank 2 or more, given {x} and {y}")
    if x.shape[-1] != y.shape[-2]:
        raise InferenceError(
            f"ops.matmul: the inner sizes of {x} and {y} differ: {x.shape[-1]} and {y.shape[-2]}"
        )
    dtype = common_dtype(x, y)
    if not dtype.startswith("float"):
        raise InferenceError(f"ops.matmul needs float tensors, given {x} and {y}")
    return TensorSpec((*broadcast_shapes(x.shape[:-2], y.shape[:-2]), x.shape[-2], y.shape[-1]), dtype)


@operation("contraction")
def linear(x: TensorSpec, weights: TensorSpec, biases: TensorSpec | None = None) -> TensorSpec:
    """``x [B, K] @ weights [K, N] (+ biases [N]) -> [B, N]``, the work of a dense layer in one operation."""
    if len(x.shape) != 2 or len(weights.shape) != 2:
        raise InferenceError(f"ops.linear needs x [B, K] and weights [K, N], given {x} and {weights}")
    result = matmul(x, weights)
    if biases is not None:
        common_dtype(result, biases)
        if biases.shape != (weights.shape[1],):
            raise InferenceError(f"ops.linear: biases {biases} do not fit weights {weights}")
    return result
