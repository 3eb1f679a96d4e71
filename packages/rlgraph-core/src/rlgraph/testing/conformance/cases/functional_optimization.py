"""Cases of `rlgraph.core.functional.optimization`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.core.functional.optimization import (
    adadelta,
    adagrad,
    adam,
    adamw,
    clip_by_global_norm,
    clip_by_norm,
    clip_by_value,
    global_norm,
    momentum_sgd,
    nadam,
    rmsprop,
    sgd,
)
from rlgraph.testing.conformance.cases.case import FunctionCase

_RNG = np.random.default_rng(0)
_VARIABLE, _GRADIENT, _SIGNED = _RNG.standard_normal((3, 7))
_SQUARE, _OTHER_SQUARE = _RNG.uniform(0.5, 2.0, (2, 7))
_STEPPED = {"variable": _VARIABLE, "gradient": _GRADIENT}
_MOMENTS = {"first_moment": _SIGNED, "second_moment": _SQUARE, "step": np.asarray(3.0)}
_BETAS = {"learning_rate": 0.1, "beta1": 0.8, "beta2": 0.9, "epsilon": 1e-3}
_BY = ("variable", "gradient")


def _rule(function: Any, **arguments: Any) -> FunctionCase:
    return FunctionCase(function, {**_STEPPED, **arguments}, by=_BY)


FUNCTIONS: dict[str, FunctionCase] = {
    "adadelta": _rule(
        adadelta,
        mean_square=_SQUARE,
        mean_square_update=_OTHER_SQUARE,
        learning_rate=0.5,
        rho=0.9,
        epsilon=1e-3,
    ),
    "adagrad": _rule(adagrad, accumulator=_SQUARE, learning_rate=0.1, epsilon=1e-3),
    "adam": _rule(adam, **_MOMENTS, **_BETAS),
    "adamw": _rule(adamw, **_MOMENTS, **_BETAS, weight_decay=0.1),
    "clip_by_global_norm": FunctionCase(
        clip_by_global_norm, {"gradients": [_GRADIENT, _SIGNED], "max_norm": 0.5}
    ),
    "clip_by_norm": FunctionCase(clip_by_norm, {"gradient": _GRADIENT, "max_norm": 0.5}, by=("gradient",)),
    "clip_by_value": FunctionCase(clip_by_value, {"gradients": [_GRADIENT, _SIGNED], "limit": 0.5}),
    "global_norm": FunctionCase(global_norm, {"gradients": [_GRADIENT, _SIGNED]}),
    "momentum_sgd": _rule(
        momentum_sgd, momentum_buffer=_SIGNED, learning_rate=0.1, momentum=0.9, nesterov=True
    ),
    "nadam": _rule(nadam, **_MOMENTS, **_BETAS, momentum_product=np.asarray(0.1), momentum_decay=0.2),
    "rmsprop": _rule(
        rmsprop,
        mean_square=_SQUARE + _SIGNED**2,
        mean=_SIGNED,
        momentum_buffer=_OTHER_SQUARE,
        learning_rate=0.1,
        decay=0.9,
        epsilon=1e-3,
        momentum=0.5,
    ),
    "rmsprop_epsilon_inside_root": _rule(
        rmsprop,
        mean_square=_SQUARE + _SIGNED**2,
        mean=_SIGNED,
        momentum_buffer=_OTHER_SQUARE,
        learning_rate=0.1,
        decay=0.9,
        epsilon=0.1,
        epsilon_inside_root=True,
    ),
    "sgd": _rule(sgd, learning_rate=0.1),
}
