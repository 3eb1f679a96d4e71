"""Cases of `rlgraph.core.functional`."""

from __future__ import annotations

import numpy as np

from rlgraph.core.functional.dueling import dueling_q_values
from rlgraph.core.functional.q_learning import huber
from rlgraph.testing.conformance.cases.case import By, FunctionCase, by_function, case_of

_RNG = np.random.default_rng(0)

FUNCTIONS: dict[str, FunctionCase] = by_function(
    case_of(
        dueling_q_values,
        state_values=By(_RNG.standard_normal((5, 1))),
        advantages=By(_RNG.standard_normal((5, 3))),
    ),
    case_of(huber, errors=By(_RNG.standard_normal((5, 3))), delta=0.5),
)
