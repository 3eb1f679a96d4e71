"""The component library as cases: what every backend is tried with."""

from rlgraph.testing.conformance.cases import (
    common,
    explorations,
    functional,
    functional_layers,
    layers,
    losses,
    memories,
    optimizers,
    policies,
    preprocessing,
)
from rlgraph.testing.conformance.cases.case import BATCH, Case, FunctionCase

#: By name, which begins with the name that the component has in the registry.
CASES: dict[str, Case] = {
    **common.CASES,
    **explorations.CASES,
    **layers.CASES,
    **losses.CASES,
    **memories.CASES,
    **optimizers.CASES,
    **policies.CASES,
    **preprocessing.CASES,
}

#: By name, which begins with the name of the function.
FUNCTIONS: dict[str, FunctionCase] = {**functional.FUNCTIONS, **functional_layers.FUNCTIONS}

__all__ = ["BATCH", "CASES", "FUNCTIONS", "Case", "FunctionCase"]
