"""Cases of `rlgraph.core.functional`."""

from __future__ import annotations

import numpy as np

from rlgraph.core.functional.dueling import dueling_q_values
from rlgraph.core.functional.q_learning import huber
from rlgraph.testing.conformance.cases.case import FunctionCase

_RNG = np.random.default_rng(0)

FUNCTIONS: dict[str, FunctionCase] = {
    "dueling_q_values": FunctionCase(
        dueling_q_values,
        {"state_values": _RNG.standard_normal((5, 1)), "advantages": _RNG.standard_normal((5, 3))},
        by=("state_values", "advantages"),
    ),
    "huber": FunctionCase(huber, {"errors": _RNG.standard_normal((5, 3)), "delta": 0.5}, by=("errors",)),
}
