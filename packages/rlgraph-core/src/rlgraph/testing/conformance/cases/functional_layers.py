"""Cases of the functions that layers compute."""

from __future__ import annotations

import numpy as np

from rlgraph.core.functional.activations import crelu, leaky_relu
from rlgraph.core.functional.dropout import dropout
from rlgraph.core.functional.noisy_networks import factorised_noise
from rlgraph.core.functional.normalization import local_response_norm
from rlgraph.testing.conformance.cases.case import FunctionCase

_RNG = np.random.default_rng(0)

FUNCTIONS: dict[str, FunctionCase] = {
    "crelu": FunctionCase(crelu, {"x": _RNG.standard_normal((4, 3))}, by=("x",)),
    "dropout": FunctionCase(
        dropout, {"x": _RNG.standard_normal((4, 3)), "uniform": _RNG.random((4, 3)), "rate": 0.4}, by=("x",)
    ),
    "factorised_noise": FunctionCase(
        factorised_noise,
        {"e_in": _RNG.standard_normal(3), "e_out": _RNG.standard_normal(2)},
        by=("e_in", "e_out"),
    ),
    "leaky_relu": FunctionCase(leaky_relu, {"x": _RNG.standard_normal((4, 3))}, by=("x",)),
    "local_response_norm": FunctionCase(
        local_response_norm,
        {"x": _RNG.standard_normal((2, 3, 5)), "depth_radius": 2, "bias": 0.5, "alpha": 0.3, "beta": 0.75},
        by=("x",),
    ),
}
