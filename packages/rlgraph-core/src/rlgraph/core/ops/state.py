"""Operations on variables. Reads and writes take effect in program order."""

from __future__ import annotations

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops.checks import require_indices
from rlgraph.core.ops.contract import operation
from rlgraph.core.ops.elementwise import Operand, common_dtype
from rlgraph.core.ops.tensor_spec import TensorSpec


@operation("state")
def read(variable: TensorSpec) -> TensorSpec:
    """The current value of the variable; later writes do not change the result."""
    return variable


@operation("state")
def assign(variable: TensorSpec, value: Operand) -> None:
    """Write `value` into `variable`; the shapes must be equal, nothing broadcasts."""
    common_dtype(variable, value)
    if isinstance(value, TensorSpec) and value.shape != variable.shape:
        raise InferenceError(f"ops.assign: {value} does not have the shape of the variable {variable}")


@operation("state")
def assign_add(variable: TensorSpec, value: Operand) -> None:
    """Add `value` to `variable` in place; the shapes must be equal, nothing broadcasts."""
    _check_numbers("assign_add", variable)
    assign(variable, value)


@operation("state")
def scatter_update(variable: TensorSpec, indices: TensorSpec, values: TensorSpec) -> None:
    """Write the rows `values` at `indices` along the first axis of `variable`, in place.

    Shapes: indices [...], values [..., *row]; nothing broadcasts. Indices count from 0. For a
    repeated index, any of its rows may win.
    """
    _check_rows("scatter_update", variable, indices, values)


@operation("state")
def scatter_add(variable: TensorSpec, indices: TensorSpec, values: TensorSpec) -> None:
    """Add the rows `values` to those at `indices` along the first axis of `variable`, in place.

    Shapes: indices [...], values [..., *row]; nothing broadcasts. Indices count from 0. All rows of a repeated
    index are added.
    """
    _check_numbers("scatter_add", variable)
    _check_rows("scatter_add", variable, indices, values)


def _check_numbers(name: str, variable: TensorSpec) -> None:
    if variable.dtype == "bool":
        raise InferenceError(f"ops.{name} needs a variable of numbers, given {variable}")


def _check_rows(name: str, variable: TensorSpec, indices: TensorSpec, values: TensorSpec) -> None:
    if not variable.shape:
        raise InferenceError(f"ops.{name}: the variable {variable} has no rows; use ops.assign")
    require_indices(name, indices)
    common_dtype(variable, values)
    rows = values.with_shape((*indices.shape, *variable.shape[1:]))
    if values.shape != rows.shape:
        raise InferenceError(
            f"ops.{name}: {indices} into {variable} needs values of shape {rows}, given {values}"
        )
