"""Cases of the functions that layers compute."""

from __future__ import annotations

import numpy as np

from rlgraph.core.functional.activations import crelu, leaky_relu
from rlgraph.core.functional.dropout import dropout
from rlgraph.core.functional.noisy_networks import factorised_noise
from rlgraph.core.functional.normalization import local_response_norm
from rlgraph.testing.conformance.cases.case import By, FunctionCase, by_function, case_of

_RNG = np.random.default_rng(0)

FUNCTIONS: dict[str, FunctionCase] = by_function(
    case_of(crelu, x=By(_RNG.standard_normal((4, 3)))),
    case_of(dropout, x=By(_RNG.standard_normal((4, 3))), uniform=_RNG.random((4, 3)), rate=0.4),
    case_of(factorised_noise, e_in=By(_RNG.standard_normal(3)), e_out=By(_RNG.standard_normal(2))),
    case_of(leaky_relu, x=By(_RNG.standard_normal((4, 3)))),
    case_of(
        local_response_norm,
        x=By(_RNG.standard_normal((2, 3, 5))),
        depth_radius=2,
        bias=0.5,
        alpha=0.3,
        beta=0.75,
    ),
)
