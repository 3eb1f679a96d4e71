"""Elementwise operations on NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.core.numpy import special
from rlgraph.core.ops.native import native

Array = Any


class Elementwise:
    """The families elementwise and nn, except operations that reduce axes."""

    vars().update(
        native(
            np,
            "logical_and logical_or logical_xor logical_not isfinite isnan isinf where maximum minimum",
            "abs sign floor ceil trunc reciprocal sqrt square exp expm1 log log1p logaddexp",
            "sin cos tan sinh cosh tanh",
            round="rint",
            asin="arcsin",
            acos="arccos",
            atan="arctan",
            atan2="arctan2",
            asinh="arcsinh",
            acosh="arccosh",
            atanh="arctanh",
        )
    )
    erf = staticmethod(special.erf)
    lgamma = staticmethod(special.lgamma)
    digamma = staticmethod(special.digamma)

    @staticmethod
    def sigmoid(x: Array) -> Array:
        return 0.5 * (np.tanh(0.5 * x) + 1.0)

    @staticmethod
    def clip(x: Array, low: float, high: float) -> Array:
        return np.clip(x, low, high)

    @staticmethod
    def stop_gradient(x: Array) -> Array:
        return x

    @staticmethod
    def relu(x: Array) -> Array:
        return np.maximum(x, 0)

    @staticmethod
    def elu(x: Array) -> Array:
        return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))

    @staticmethod
    def selu(x: Array) -> Array:
        scale, slope = 1.0507009873554805, 1.6732632423543772
        return scale * np.where(x > 0, x, slope * np.expm1(np.minimum(x, 0)))

    @staticmethod
    def leaky_relu(x: Array, slope: float = 0.01) -> Array:
        return np.where(x > 0, x, slope * x)

    @staticmethod
    def gelu(x: Array) -> Array:
        return 0.5 * x * (1.0 + special.erf(x * 0.5**0.5))

    @staticmethod
    def silu(x: Array) -> Array:
        return x * Elementwise.sigmoid(x)

    @staticmethod
    def softplus(x: Array) -> Array:
        return np.logaddexp(x, 0.0)

    @staticmethod
    def softsign(x: Array) -> Array:
        return x / (1.0 + np.abs(x))

    @staticmethod
    def log_sigmoid(x: Array) -> Array:
        return -np.logaddexp(-x, 0.0)
