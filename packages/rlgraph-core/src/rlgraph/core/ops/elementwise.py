"""Elementwise operations: shapes broadcast, dtypes never promote."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops.checks import require_bool, require_float, require_number
from rlgraph.core.ops.contract import operation
from rlgraph.core.ops.dims import RankSize, SymbolicDim
from rlgraph.core.ops.tensor_spec import Shape, TensorSpec

Operand = TensorSpec | float | int | bool


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The shape after NumPy broadcasting: sizes are equal, or one of them is the fixed size 1."""
    rank = max(len(shape) for shape in shapes)
    result: list[int | SymbolicDim] = []
    for position in range(rank):
        size: int | SymbolicDim = 1
        for shape in shapes:
            index = position - (rank - len(shape))
            dim = shape[index] if index >= 0 else 1
            if dim == 1 or dim == size:
                # A `RankSize` knows its rank: keep it.
                size = dim if dim == size and isinstance(dim, RankSize) else size
                continue
            if size != 1:
                raise InferenceError(
                    f"shapes {' and '.join(map(str, shapes))} do not broadcast: {size} against {dim}"
                )
            size = dim
        result.append(size)
    return tuple(result)


def common_dtype(*operands: Operand) -> str:
    """The one dtype of all tensors among `operands`; Python scalars adapt if their kind allows it.

    Raises:
        InferenceError: two tensors differ in dtype, a float scalar meets an integer tensor, or an integer is too large.
    """
    tensors = [operand for operand in operands if isinstance(operand, TensorSpec)]
    if not tensors:
        raise InferenceError("at least one operand must be a tensor")
    dtype = tensors[0].dtype
    for tensor in tensors[1:]:
        if tensor.dtype != dtype:
            raise InferenceError(
                f"no implicit promotion: {tensors[0]} with {tensor}; convert one with ops.astype(x, dtype)"
            )
    for scalar in operands:
        if isinstance(scalar, TensorSpec):
            continue
        fits = {
            "f": isinstance(scalar, int | float) and not isinstance(scalar, bool),
            "i": isinstance(scalar, int) and not isinstance(scalar, bool),
            "u": isinstance(scalar, int) and not isinstance(scalar, bool),
            "b": isinstance(scalar, bool),
        }[dtype[0]]
        if not fits and isinstance(scalar, SymbolicDim):
            raise InferenceError(
                f"the size {scalar} cannot be combined with {tensors[0]}: use sizes only in shapes; "
                "as a tensor, compute it by ops.sum(ops.ones_like(x))"
            )
        if not fits:
            raise InferenceError(f"no implicit promotion: {tensors[0]} with the Python scalar {scalar!r}")
        if dtype[0] in "iu" and not np.iinfo(dtype).min <= scalar <= np.iinfo(dtype).max:
            raise InferenceError(f"the number {scalar} does not fit into {tensors[0]}: use ops.astype first")
    return dtype


def _shape_of(operand: Operand) -> Shape:
    return operand.shape if isinstance(operand, TensorSpec) else ()


def arithmetic(name: str, x: Operand, y: Operand) -> TensorSpec:
    """The operators + - * / // % and **."""
    dtype = common_dtype(x, y)
    require = require_float if name in ("divide", "power") else require_number
    require(name, x, y)
    return TensorSpec(broadcast_shapes(_shape_of(x), _shape_of(y)), dtype)


def comparison(x: Operand, y: Operand) -> TensorSpec:
    """The operators == != < <= > >=."""
    common_dtype(x, y)
    return TensorSpec(broadcast_shapes(_shape_of(x), _shape_of(y)), "bool")


def _logical(name: str, x: Operand, y: Operand) -> TensorSpec:
    common_dtype(x, y)
    require_bool(name, x, y)
    return TensorSpec(broadcast_shapes(_shape_of(x), _shape_of(y)), "bool")


@operation("elementwise")
def logical_and(x: TensorSpec, y: TensorSpec) -> TensorSpec:
    """``x & y`` of bool tensors."""
    return _logical("logical_and", x, y)


@operation("elementwise")
def logical_or(x: TensorSpec, y: TensorSpec) -> TensorSpec:
    """``x | y`` of bool tensors."""
    return _logical("logical_or", x, y)


@operation("elementwise")
def logical_xor(x: TensorSpec, y: TensorSpec) -> TensorSpec:
    """``x ^ y`` of bool tensors."""
    return _logical("logical_xor", x, y)


@operation("elementwise")
def logical_not(x: TensorSpec) -> TensorSpec:
    """``~x`` of a bool tensor."""
    require_bool("logical_not", x)
    return x


@operation("elementwise")
def isfinite(x: TensorSpec) -> TensorSpec:
    """True where `x` is neither infinite nor NaN."""
    require_float("isfinite", x)
    return TensorSpec(x.shape, "bool")


@operation("elementwise")
def isnan(x: TensorSpec) -> TensorSpec:
    """True where `x` is NaN."""
    require_float("isnan", x)
    return TensorSpec(x.shape, "bool")


@operation("elementwise")
def isinf(x: TensorSpec) -> TensorSpec:
    """True where `x` is infinite, of either sign."""
    require_float("isinf", x)
    return TensorSpec(x.shape, "bool")


@operation("elementwise")
def atan2(x: Operand, y: Operand) -> TensorSpec:
    """The angle in radians of the point ``(y, x)``: `x` is its ordinate, as in ``math.atan2``."""
    require_float("atan2", x, y)
    return arithmetic("atan2", x, y)


@operation("elementwise")
def logaddexp(x: Operand, y: Operand) -> TensorSpec:
    """``log(exp(x) + exp(y))``, computed without overflow."""
    require_float("logaddexp", x, y)
    return arithmetic("logaddexp", x, y)


@operation("elementwise")
def maximum(x: Operand, y: Operand) -> TensorSpec:
    """The larger of the two, elementwise."""
    return arithmetic("maximum", x, y)


@operation("elementwise")
def minimum(x: Operand, y: Operand) -> TensorSpec:
    """The smaller of the two, elementwise."""
    return arithmetic("minimum", x, y)


@operation("elementwise")
def clip(x: TensorSpec, low: float, high: float) -> TensorSpec:
    """`x` limited to ``[low, high]`` (Python scalars)."""
    common_dtype(x, low, high)
    require_number("clip", x)
    return replace(x, low=low, high=high + 1 if x.is_int else high)


@operation("elementwise")
def where(condition: TensorSpec, x: Operand, y: Operand) -> TensorSpec:
    """`x` where `condition` holds, else `y`."""
    require_bool("where", condition)
    dtype = common_dtype(x, y)
    return TensorSpec(broadcast_shapes(condition.shape, _shape_of(x), _shape_of(y)), dtype)


@operation("elementwise", view=True)
def astype(x: TensorSpec, dtype: str) -> TensorSpec:
    """`x` converted to `dtype`; may return `x` itself if it has that dtype."""
    if x.dtype == "str":
        raise InferenceError(f"ops.astype: text cannot be converted, given {x}")
    keeps_bounds = dtype[0] == x.dtype[0]
    return TensorSpec(x.shape, dtype, x.low if keeps_bounds else None, x.high if keeps_bounds else None)


@operation("elementwise", view=True, differentiable=False)
def stop_gradient(x: TensorSpec) -> TensorSpec:
    """`x`; no gradient flows through it."""
    return x
