"""Cases of `rlgraph.core.functional.optimization`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.core.functional import optimization
from rlgraph.testing.conformance.cases.case import By, FunctionCase, by_function, case_of

_RNG = np.random.default_rng(0)
_VARIABLE, _GRADIENT, _SIGNED = _RNG.standard_normal((3, 7))
_SQUARE, _OTHER_SQUARE = _RNG.uniform(0.5, 2.0, (2, 7))
_MOMENTS = {"first_moment": _SIGNED, "second_moment": _SQUARE, "step": np.asarray(3.0)}
_BETAS = {"learning_rate": 0.1, "beta1": 0.8, "beta2": 0.9, "epsilon": 1e-3}
_RMSPROP = {
    "mean_square": _SQUARE + _SIGNED**2,
    "mean": _SIGNED,
    "momentum_buffer": _OTHER_SQUARE,
    "learning_rate": 0.1,
    "decay": 0.9,
}


def _rule(function: Any, **arguments: Any) -> FunctionCase:
    return case_of(function, variable=By(_VARIABLE), gradient=By(_GRADIENT), **arguments)


FUNCTIONS: dict[str, FunctionCase] = by_function(
    _rule(
        optimization.adadelta,
        mean_square=_SQUARE,
        mean_square_update=_OTHER_SQUARE,
        learning_rate=0.5,
        rho=0.9,
        epsilon=1e-3,
    ),
    _rule(optimization.adagrad, accumulator=_SQUARE, learning_rate=0.1, epsilon=1e-3),
    _rule(optimization.adam, **_MOMENTS, **_BETAS),
    _rule(optimization.adamw, **_MOMENTS, **_BETAS, weight_decay=0.1),
    case_of(optimization.clip_by_global_norm, gradients=[_GRADIENT, _SIGNED], max_norm=0.5),
    case_of(optimization.clip_by_norm, gradient=By(_GRADIENT), max_norm=0.5),
    case_of(optimization.clip_by_value, gradients=[_GRADIENT, _SIGNED], limit=0.5),
    case_of(optimization.global_norm, gradients=[_GRADIENT, _SIGNED]),
    _rule(optimization.momentum_sgd, momentum_buffer=_SIGNED, learning_rate=0.1, momentum=0.9, nesterov=True),
    _rule(optimization.nadam, **_MOMENTS, **_BETAS, momentum_product=np.asarray(0.1), momentum_decay=0.2),
    _rule(optimization.rmsprop, **_RMSPROP, epsilon=1e-3, momentum=0.5),
    _rule(optimization.sgd, learning_rate=0.1),
) | {
    "rmsprop_epsilon_inside_root": _rule(
        optimization.rmsprop, **_RMSPROP, epsilon=0.1, epsilon_inside_root=True
    )
}
