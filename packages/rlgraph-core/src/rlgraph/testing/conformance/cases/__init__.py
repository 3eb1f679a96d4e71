"""The component library as cases: what every backend is tried with."""

from rlgraph.testing.conformance.cases import (
    action_adapters,
    common,
    distributions,
    explorations,
    functional,
    functional_distributions,
    functional_layers,
    functional_losses,
    functional_optimization,
    functional_recurrent,
    functional_values,
    helpers,
    layers,
    losses,
    memories,
    models,
    networks,
    optimizers,
    policies,
    policy_losses,
    preprocessing,
    recurrent,
    supervised_losses,
)
from rlgraph.testing.conformance.cases.case import BATCH, STEPS, Case, FunctionCase
from rlgraph.testing.conformance.cases.gaps import GAPS
from rlgraph.testing.conformance.cases.in_time import in_time

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
    **models.CASES,
    **networks.CASES,
    **optimizers.CASES,
    **policies.CASES,
    **policy_losses.CASES,
    **preprocessing.CASES,
    **recurrent.CASES,
    **supervised_losses.CASES,
}
CASES.update(in_time(CASES))

#: By name, which begins with the name of the function.
FUNCTIONS: dict[str, FunctionCase] = {
    **functional.FUNCTIONS,
    **functional_distributions.FUNCTIONS,
    **functional_layers.FUNCTIONS,
    **functional_losses.FUNCTIONS,
    **functional_optimization.FUNCTIONS,
    **functional_recurrent.FUNCTIONS,
    **functional_values.FUNCTIONS,
}

__all__ = ["BATCH", "CASES", "FUNCTIONS", "GAPS", "STEPS", "Case", "FunctionCase"]
