"""Operations on variables. Reads and writes take effect in program order."""

from __future__ import annotations

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops.contract import operation
from rlgraph.core.ops.elementwise import Operand, common_dtype
from rlgraph.core.ops.tensor_spec import TensorSpec


@operation("state")
def read(variable: TensorSpec) -> TensorSpec:
    """The variable's value now; later writes do not change it."""
    return variable


@operation("state")
def assign(variable: TensorSpec, value: Operand) -> None:
    """Write `value` into `variable`; the shapes are equal, nothing broadcasts."""
    common_dtype(variable, value)
    if isinstance(value, TensorSpec) and value.shape != variable.shape:
        raise InferenceError(f"ops.assign: {value} does not have the shape of the variable {variable}")


@operation("state")
def assign_add(variable: TensorSpec, value: Operand) -> None:
    """Add `value` to `variable` in place; the shapes are equal, nothing broadcasts."""
    assign(variable, value)
