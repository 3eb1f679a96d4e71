"""Products that sum over a shared axis."""

from __future__ import annotations

import re

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops.checks import require_float, require_rank
from rlgraph.core.ops.contract import operation
from rlgraph.core.ops.dims import SymbolicDim
from rlgraph.core.ops.elementwise import broadcast_shapes, common_dtype
from rlgraph.core.ops.reduction import normalize_axis
from rlgraph.core.ops.tensor_spec import Shape, TensorSpec


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
    require_float("matmul", x, y)
    return TensorSpec((*broadcast_shapes(x.shape[:-2], y.shape[:-2]), x.shape[-2], y.shape[-1]), dtype)


@operation("contraction")
def linear(x: TensorSpec, weights: TensorSpec, biases: TensorSpec | None = None) -> TensorSpec:
    """``x [B, K] @ weights [K, N] (+ biases [N]) -> [B, N]``: a dense layer in one operation."""
    if len(x.shape) != 2 or len(weights.shape) != 2:
        raise InferenceError(f"ops.linear needs x [B, K] and weights [K, N], given {x} and {weights}")
    result = matmul(x, weights)
    if biases is not None:
        common_dtype(result, biases)
        if biases.shape != (weights.shape[1],):
            raise InferenceError(f"ops.linear: biases {biases} do not fit weights {weights}")
    return result


@operation("contraction")
def outer(x: TensorSpec, y: TensorSpec) -> TensorSpec:
    """``x [M], y [N] -> [M, N]``: the products of all pairs."""
    require_float("outer", x, y)
    require_rank("outer", x, 1, "x [M]")
    require_rank("outer", y, 1, "y [N]")
    return TensorSpec((*x.shape, *y.shape), common_dtype(x, y))


@operation("contraction")
def vecdot(x: TensorSpec, y: TensorSpec, axis: int = -1) -> TensorSpec:
    """``sum(x * y, axis)`` of two tensors of the same shape."""
    require_float("vecdot", x, y)
    dtype = common_dtype(x, y)
    if x.shape != y.shape:
        raise InferenceError(f"ops.vecdot needs two tensors of the same shape, given {x} and {y}")
    position = normalize_axis(axis, len(x.shape), "vecdot")
    return TensorSpec((*x.shape[:position], *x.shape[position + 1 :]), dtype)


@operation("contraction")
def einsum(equation: str, *tensors: TensorSpec) -> TensorSpec:
    """Einstein summation: ``einsum("bi,bij->bj", x, y)`` sums over the letters missing from the result.

    Each axis has one letter; the letters of one tensor differ. The result after ``->`` is required.
    """
    if len(tensors) < 2:
        raise InferenceError(
            f"ops.einsum needs at least two tensors, given {len(tensors)}; for one use ops.sum and ops.permute_dims"
        )
    require_float("einsum", *tensors)
    dtype = common_dtype(*tensors)
    inputs, result = _parse(equation)
    if len(inputs) != len(tensors):
        raise InferenceError(
            f"ops.einsum: {equation!r} names {len(inputs)} tensors, but {len(tensors)} were given"
        )
    sizes: dict[str, int | SymbolicDim] = {}
    for letters, tensor in zip(inputs, tensors, strict=True):
        _match(equation, letters, tensor.shape, sizes)
    if not set(result) <= set(sizes):
        raise InferenceError(f"ops.einsum: the result of {equation!r} has a letter that no tensor has")
    return TensorSpec(tuple(sizes[letter] for letter in result), dtype)


def _parse(equation: str) -> tuple[list[str], str]:
    """The letters of each tensor, and of the result."""
    text = equation.replace(" ", "") if isinstance(equation, str) else ""
    left, _, result = text.partition("->")
    inputs = left.split(",")
    different = all(len(set(term)) == len(term) for term in [*inputs, result])
    if not (different and re.fullmatch("[A-Za-z,]*->[A-Za-z]*", text)):
        raise InferenceError(
            "ops.einsum needs an equation like 'bi,ij->bj' with different letters per tensor, "
            f"given {equation!r}"
        )
    return inputs, result


def _match(equation: str, letters: str, shape: Shape, sizes: dict[str, int | SymbolicDim]) -> None:
    """Record the sizes of one tensor in `sizes`."""
    if len(letters) != len(shape):
        raise InferenceError(f"ops.einsum: {letters!r} in {equation!r} does not name the axes of {shape}")
    for letter, size in zip(letters, shape, strict=True):
        if sizes.setdefault(letter, size) != size:
            raise InferenceError(f"ops.einsum: {letter!r} in {equation!r} is both {sizes[letter]} and {size}")
