"""The contract on JAX: every operation that graph functions may use. Most of them JAX has as they are."""

from __future__ import annotations

from typing import Any

from jax import Array, lax, nn
from jax import numpy as jnp
from jax.scipy import special

from rlgraph.core.handle import takes_handles, value_of
from rlgraph_jax.control import Control
from rlgraph_jax.convolution import Convolution
from rlgraph_jax.gather import Gather
from rlgraph_jax.handles import VariableHandle
from rlgraph_jax.random import Random
from rlgraph_jax.shaping import Creation, Shaping


class Elementwise:
    """The families elementwise and nn."""

    logical_and = staticmethod(jnp.logical_and)
    logical_or = staticmethod(jnp.logical_or)
    logical_xor = staticmethod(jnp.logical_xor)
    logical_not = staticmethod(jnp.logical_not)
    isfinite = staticmethod(jnp.isfinite)
    isnan = staticmethod(jnp.isnan)
    isinf = staticmethod(jnp.isinf)
    abs = staticmethod(jnp.abs)
    sign = staticmethod(jnp.sign)
    floor = staticmethod(jnp.floor)
    ceil = staticmethod(jnp.ceil)
    round = staticmethod(jnp.round)
    trunc = staticmethod(jnp.trunc)
    reciprocal = staticmethod(jnp.reciprocal)
    square = staticmethod(jnp.square)
    sqrt = staticmethod(jnp.sqrt)
    exp = staticmethod(jnp.exp)
    expm1 = staticmethod(jnp.expm1)
    log = staticmethod(jnp.log)
    log1p = staticmethod(jnp.log1p)
    logaddexp = staticmethod(jnp.logaddexp)
    sin = staticmethod(jnp.sin)
    cos = staticmethod(jnp.cos)
    tan = staticmethod(jnp.tan)
    asin = staticmethod(jnp.asin)
    acos = staticmethod(jnp.acos)
    atan = staticmethod(jnp.atan)
    atan2 = staticmethod(jnp.atan2)
    sinh = staticmethod(jnp.sinh)
    cosh = staticmethod(jnp.cosh)
    tanh = staticmethod(jnp.tanh)
    asinh = staticmethod(jnp.asinh)
    acosh = staticmethod(jnp.acosh)
    atanh = staticmethod(jnp.atanh)
    erf = staticmethod(special.erf)
    lgamma = staticmethod(special.gammaln)
    digamma = staticmethod(special.digamma)
    maximum = staticmethod(jnp.maximum)
    minimum = staticmethod(jnp.minimum)
    where = staticmethod(jnp.where)
    stop_gradient = staticmethod(lax.stop_gradient)
    sigmoid = staticmethod(nn.sigmoid)
    log_sigmoid = staticmethod(nn.log_sigmoid)
    relu = staticmethod(nn.relu)
    elu = staticmethod(nn.elu)
    selu = staticmethod(nn.selu)
    silu = staticmethod(nn.silu)
    softplus = staticmethod(nn.softplus)
    softsign = staticmethod(nn.soft_sign)

    @staticmethod
    def clip(x: Array, low: float, high: float) -> Array:
        return jnp.clip(x, low, high)

    @staticmethod
    def leaky_relu(x: Array, slope: float = 0.01) -> Array:
        return nn.leaky_relu(x, slope)

    @staticmethod
    def gelu(x: Array) -> Array:
        return nn.gelu(x, approximate=False)

    @staticmethod
    def layer_norm(
        x: Array,
        scale: Array | None = None,
        offset: Array | None = None,
        epsilon: float = 1e-5,
    ) -> Array:
        y = nn.standardize(x, epsilon=epsilon) * (1 if scale is None else scale)
        return y if offset is None else y + offset


class Reduction:
    """The families reduction and contraction."""

    softmax = staticmethod(nn.softmax)
    log_softmax = staticmethod(nn.log_softmax)
    argmax = staticmethod(jnp.argmax)
    argmin = staticmethod(jnp.argmin)
    matmul = staticmethod(jnp.matmul)
    outer = staticmethod(jnp.outer)
    einsum = staticmethod(jnp.einsum)

    @staticmethod
    def mean(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return jnp.mean(x, axis, keepdims=keepdims)

    @staticmethod
    def sum(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return jnp.sum(x, axis, x.dtype, keepdims=keepdims)

    @staticmethod
    def prod(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return jnp.prod(x, axis, x.dtype, keepdims=keepdims)

    @staticmethod
    def max(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return jnp.max(x, axis, keepdims=keepdims)

    @staticmethod
    def min(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return jnp.min(x, axis, keepdims=keepdims)

    @staticmethod
    def all(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return jnp.all(x, axis, keepdims=keepdims)

    @staticmethod
    def any(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return jnp.any(x, axis, keepdims=keepdims)

    @staticmethod
    def count_nonzero(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return jnp.count_nonzero(x, axis, keepdims=keepdims)

    @staticmethod
    def var(
        x: Array, axis: Any = None, keepdims: bool = False, correction: int = 0
    ) -> Array:
        return jnp.var(x, axis, ddof=correction, keepdims=keepdims)

    @staticmethod
    def std(
        x: Array, axis: Any = None, keepdims: bool = False, correction: int = 0
    ) -> Array:
        return jnp.std(x, axis, ddof=correction, keepdims=keepdims)

    @staticmethod
    def logsumexp(x: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return nn.logsumexp(x, axis, keepdims=keepdims)

    @staticmethod
    def cumulative_sum(x: Array, axis: int) -> Array:
        return jnp.cumsum(x, axis, x.dtype)

    @staticmethod
    def cumulative_prod(x: Array, axis: int) -> Array:
        return jnp.cumprod(x, axis, x.dtype)

    @staticmethod
    def linear(x: Array, weights: Array, biases: Array | None = None) -> Array:
        return x @ weights if biases is None else x @ weights + biases

    @staticmethod
    def vecdot(x: Array, y: Array, axis: int = -1) -> Array:
        return jnp.sum(x * y, axis)


class State:
    """The family state. It is the one that needs to know where a value is kept, so it gets the handle itself."""

    @staticmethod
    def read(variable: VariableHandle) -> Array:
        return variable.value

    @staticmethod
    def assign(variable: VariableHandle, value: Any) -> None:
        variable.state.write(variable, value_of(value))

    @staticmethod
    def assign_add(variable: VariableHandle, value: Any) -> None:
        variable.state.write(variable, variable.value + value_of(value))

    @staticmethod
    def scatter_update(variable: VariableHandle, indices: Array, values: Array) -> None:
        variable.state.write(
            variable, variable.value.at[value_of(indices)].set(value_of(values))
        )

    @staticmethod
    def scatter_add(variable: VariableHandle, indices: Array, values: Array) -> None:
        variable.state.write(
            variable, variable.value.at[value_of(indices)].add(value_of(values))
        )


@takes_handles
class JaxOps(
    Elementwise,
    Reduction,
    Shaping,
    Creation,
    Gather,
    Convolution,
    Random,
    Control,
    State,
):
    """The `ops` namespace of the JAX backend.

    Args:
        float_dtype: the execution's floating dtype.
    """

    def __init__(self, float_dtype: str = "float32"):
        self.float_dtype = float_dtype

    def dtype(self, name: str | None) -> str:
        return self.float_dtype if name in (None, "float") else str(name)
