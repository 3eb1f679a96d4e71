"""Activations that frameworks offer as one operation."""

from __future__ import annotations

from dataclasses import replace

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops.contract import operation
from rlgraph.core.ops.tensor_spec import TensorSpec


def _float(name: str, x: TensorSpec) -> None:
    if not x.is_float:
        raise InferenceError(f"ops.{name} needs a float tensor, given {x}")


@operation("nn")
def relu(x: TensorSpec) -> TensorSpec:
    """``max(x, 0)``."""
    _float("relu", x)
    return replace(x, low=0.0, high=None if x.high is None else max(x.high, 0.0))


@operation("nn")
def elu(x: TensorSpec) -> TensorSpec:
    """``x`` where positive, else ``exp(x) - 1``."""
    _float("elu", x)
    return replace(x, low=-1.0, high=None)


@operation("nn")
def softplus(x: TensorSpec) -> TensorSpec:
    """``log(1 + exp(x))``."""
    _float("softplus", x)
    return replace(x, low=0.0, high=None)
