"""Elementwise operations on NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.core.numpy import special

Array = Any


class Elementwise:
    """The families elementwise and nn, except operations that reduce axes."""

    logical_and = staticmethod(np.logical_and)
    logical_or = staticmethod(np.logical_or)
    logical_xor = staticmethod(np.logical_xor)
    logical_not = staticmethod(np.logical_not)
    abs = staticmethod(np.abs)
    sign = staticmethod(np.sign)
    floor = staticmethod(np.floor)
    ceil = staticmethod(np.ceil)
    round = staticmethod(np.rint)
    trunc = staticmethod(np.trunc)
    reciprocal = staticmethod(np.reciprocal)
    exp = staticmethod(np.exp)
    expm1 = staticmethod(np.expm1)
    log = staticmethod(np.log)
    log1p = staticmethod(np.log1p)
    logaddexp = staticmethod(np.logaddexp)
    sqrt = staticmethod(np.sqrt)
    square = staticmethod(np.square)
    sin = staticmethod(np.sin)
    cos = staticmethod(np.cos)
    tan = staticmethod(np.tan)
    asin = staticmethod(np.arcsin)
    acos = staticmethod(np.arccos)
    atan = staticmethod(np.arctan)
    atan2 = staticmethod(np.arctan2)
    sinh = staticmethod(np.sinh)
    cosh = staticmethod(np.cosh)
    tanh = staticmethod(np.tanh)
    asinh = staticmethod(np.arcsinh)
    acosh = staticmethod(np.arccosh)
    atanh = staticmethod(np.arctanh)
    erf = staticmethod(special.erf)
    lgamma = staticmethod(special.lgamma)
    digamma = staticmethod(special.digamma)
    isfinite = staticmethod(np.isfinite)
    isnan = staticmethod(np.isnan)
    isinf = staticmethod(np.isinf)
    maximum = staticmethod(np.maximum)
    minimum = staticmethod(np.minimum)
    where = staticmethod(np.where)

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
