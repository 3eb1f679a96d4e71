"""Cases of the operations that fold axes away or work along one."""

from __future__ import annotations

from rlgraph.testing.operations.cases import Cases
from rlgraph.testing.operations.strategies import FLOATS, NUMBERS, along_axis, reductions

CASES = {
    "all": Cases(reductions(["bool"])),
    "argmax": Cases(along_axis(NUMBERS, optional=False)),
    "log_softmax": Cases(along_axis(FLOATS)),
    "max": Cases(reductions(NUMBERS)),
    "mean": Cases(reductions(FLOATS)),
    "min": Cases(reductions(NUMBERS)),
    "softmax": Cases(along_axis(FLOATS)),
    "sum": Cases(reductions(NUMBERS), epsilons=512.0),
}
