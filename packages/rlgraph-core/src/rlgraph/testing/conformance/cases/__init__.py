"""The component library as cases: what every backend is tried with."""

from rlgraph.testing.conformance.cases import (
    action_adapters,
    common,
    distributions,
    explorations,
    functional,
    functional_losses,
    functional_values,
    helpers,
    functional_distributions,
    functional_recurrent,
    layers,
    losses,
    memories,
    optimizers,
    policies,
    policy_losses,
    preprocessing,
    supervised_losses,
)
from rlgraph.testing.conformance.cases.case import BATCH, STEPS, Case, FunctionCase
from rlgraph.testing.conformance.cases.gaps import GAPS
    recurrent,
)
from rlgraph.testing.conformance.cases.case import BATCH, STEPS, Case, FunctionCase

#: By name, which begins with the name that the component has in the registry.
CASES: dict[str, Case] = {
    **action_adapters.CASES,
    **common.CASES,
    **distributions.CASES,
    **explorations.CASES,
    **helpers.CASES,
    **layers.CASES,
    **losses.CASES,
    **memories.CASES,
    **optimizers.CASES,
    **policies.CASES,
    **policy_losses.CASES,
    **preprocessing.CASES,
    **supervised_losses.CASES,
}

#: By name, which begins with the name of the function.
FUNCTIONS: dict[str, FunctionCase] = {
    **functional.FUNCTIONS,
    **functional_losses.FUNCTIONS,
    **functional_values.FUNCTIONS,
    **functional_distributions.FUNCTIONS,
}

__all__ = ["BATCH", "CASES", "FUNCTIONS", "GAPS", "STEPS", "Case", "FunctionCase"]
    **recurrent.CASES,
}

#: By name, which begins with the name of the function.
FUNCTIONS: dict[str, FunctionCase] = {**functional.FUNCTIONS, **functional_recurrent.FUNCTIONS}

__all__ = ["BATCH", "CASES", "FUNCTIONS", "STEPS", "Case", "FunctionCase"]
