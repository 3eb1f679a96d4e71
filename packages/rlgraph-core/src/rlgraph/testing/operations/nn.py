"""Cases of the activations."""

from __future__ import annotations

from rlgraph.testing.operations.cases import Cases
from rlgraph.testing.operations.strategies import FLOATS, unary

CASES = {
    "elu": Cases(unary(*FLOATS)),
    "relu": Cases(unary(*FLOATS)),
    "softplus": Cases(unary(*FLOATS)),
}
