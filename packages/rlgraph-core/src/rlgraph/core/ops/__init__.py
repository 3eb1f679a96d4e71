"""The contract: operations as data, and their abstract evaluation."""

from rlgraph.core.ops import (  # noqa: F401  (each family declares its operations when imported)
    contraction,
    control,
    convolution,
    creation,
    elementwise,
    functions,
    gather,
    nn,
    random,
    recurrence,
    reduction,
    shaping,
    sorting,
    state,
)
from rlgraph.core.ops.contract import CONTRACT_VERSION, OPERATIONS, Operation
from rlgraph.core.ops.dims import SymbolicDim
from rlgraph.core.ops.effects import EffectRecorder, Effects, stream_name, stream_names
from rlgraph.core.ops.images import as_pair, paddings, resize_weights
from rlgraph.core.ops.nest import leaves_of, map_nested, nested_like
from rlgraph.core.ops.python_control import PythonControl
from rlgraph.core.ops.symbolic import SymbolicOps, SymbolicTensor, SymbolicVariable
from rlgraph.core.ops.tensor_spec import TensorSpec, to_specs

__all__ = [
    "CONTRACT_VERSION",
    "OPERATIONS",
    "EffectRecorder",
    "Effects",
    "Operation",
    "PythonControl",
    "SymbolicDim",
    "SymbolicOps",
    "SymbolicTensor",
    "SymbolicVariable",
    "TensorSpec",
    "as_pair",
    "leaves_of",
    "map_nested",
    "nested_like",
    "paddings",
    "resize_weights",
    "stream_name",
    "stream_names",
    "to_specs",
]
