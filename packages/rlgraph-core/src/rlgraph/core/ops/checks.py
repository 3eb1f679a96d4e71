"""Checks of the arguments of operations."""

from __future__ import annotations

from typing import Any

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops.dims import SymbolicDim
from rlgraph.core.ops.tensor_spec import TensorSpec


def _require(kinds: str, wanted: str, name: str, operands: tuple[Any, ...]) -> None:
    for operand in operands:
        if isinstance(operand, TensorSpec) and operand.dtype[0] not in kinds:
            raise InferenceError(f"ops.{name} needs {wanted} tensor, given {operand}")


def require_float(name: str, *operands: Any) -> None:
    """Check that all tensors among `operands` hold floats."""
    _require("f", "a float", name, operands)


def require_number(name: str, *operands: Any) -> None:
    """Check that all tensors among `operands` hold floats or integers."""
    _require("fiu", "a numeric", name, operands)


def require_bool(name: str, *operands: Any) -> None:
    """Check that all tensors among `operands` hold bools."""
    _require("b", "a bool", name, operands)


def require_indices(name: str, indices: TensorSpec) -> None:
    """Check that `indices` are int32 or int64."""
    if indices.dtype not in ("int32", "int64"):
        raise InferenceError(f"ops.{name} needs int32 or int64 indices, given {indices}")


def require_rank(name: str, x: TensorSpec, rank: int, axes: str) -> None:
    """Check that `x` has this rank; `axes` describes its axes in the message."""
    if len(x.shape) != rank:
        raise InferenceError(f"ops.{name} needs a tensor {axes}, given {x}")


def require_whole(name: str, parameter: str, value: Any, least: int | None = 0) -> int:
    """Return `value` if it is a Python integer of at least `least` (None: no limit)."""
    if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
        wanted = "an integer" if least is None else f"an integer of at least {least}"
        raise InferenceError(f"ops.{name}: {parameter} must be {wanted}, given {value!r}")
    return value


def require_size(name: str, parameter: str, value: Any) -> int | SymbolicDim:
    """Return `value` if it is an integer of at least 0 or a size from ``ops.shape``."""
    return value if isinstance(value, SymbolicDim) else require_whole(name, parameter, value)
