"""Activations and normalisation that frameworks offer as one operation."""

from __future__ import annotations

from dataclasses import replace

from rlgraph.core.errors import InferenceError
from rlgraph.core.ops.checks import require_float
from rlgraph.core.ops.contract import operation
from rlgraph.core.ops.elementwise import common_dtype
from rlgraph.core.ops.tensor_spec import TensorSpec


@operation("nn")
def relu(x: TensorSpec) -> TensorSpec:
    """``max(x, 0)``."""
    require_float("relu", x)
    return replace(x, low=0.0, high=None if x.high is None else max(x.high, 0.0))


@operation("nn")
def elu(x: TensorSpec) -> TensorSpec:
    """``x`` where positive, else ``exp(x) - 1``."""
    require_float("elu", x)
    return replace(x, low=-1.0, high=None)


@operation("nn")
def softplus(x: TensorSpec) -> TensorSpec:
    """``log(1 + exp(x))``."""
    require_float("softplus", x)
    return replace(x, low=0.0, high=None)


@operation("nn")
def leaky_relu(x: TensorSpec, slope: float = 0.01) -> TensorSpec:
    """``x`` where positive, else ``slope * x``."""
    require_float("leaky_relu", x)
    return x.unbounded()


@operation("nn")
def gelu(x: TensorSpec) -> TensorSpec:
    """``x * (1 + erf(x / sqrt(2))) / 2`` (Hendrycks and Gimpel, 2016, arXiv:1606.08415)."""
    require_float("gelu", x)
    return replace(x, low=-0.17, high=None)


@operation("nn")
def silu(x: TensorSpec) -> TensorSpec:
    """``x * sigmoid(x)``, also called swish."""
    require_float("silu", x)
    return replace(x, low=-0.28, high=None)


@operation("nn")
def selu(x: TensorSpec) -> TensorSpec:
    """``1.0507 * elu(x)`` with alpha = 1.6733 (Klambauer et al., 2017, arXiv:1706.02515)."""
    require_float("selu", x)
    return replace(x, low=-1.76, high=None)


@operation("nn")
def softsign(x: TensorSpec) -> TensorSpec:
    """``x / (1 + abs(x))``."""
    require_float("softsign", x)
    return replace(x, low=-1.0, high=1.0)


@operation("nn")
def log_sigmoid(x: TensorSpec) -> TensorSpec:
    """The logarithm of `sigmoid`, ``-softplus(-x)``."""
    require_float("log_sigmoid", x)
    return replace(x, low=None, high=0.0)


@operation("nn")
def layer_norm(
    x: TensorSpec, scale: TensorSpec | None = None, offset: TensorSpec | None = None, epsilon: float = 1e-5
) -> TensorSpec:
    """``(x - mean) / sqrt(var + epsilon) * scale + offset`` over the last axis (Ba et al., 2016, arXiv:1607.06450).

    ``x [..., N]``, ``scale [N]``, ``offset [N]``; both are optional.
    """
    require_float("layer_norm", x)
    if not x.shape:
        raise InferenceError(f"ops.layer_norm needs a tensor [..., N], given {x}")
    for name, weights in (("scale", scale), ("offset", offset)):
        if weights is not None:
            common_dtype(x, weights)
            if weights.shape != x.shape[-1:]:
                raise InferenceError(f"ops.layer_norm: {name} {weights} does not fit the last axis of {x}")
    return x.unbounded()
