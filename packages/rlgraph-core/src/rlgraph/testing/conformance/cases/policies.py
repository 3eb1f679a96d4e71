"""Cases of policies and networks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rlgraph.components import (
    DuelingPolicy,
    NeuralNetwork,
    Policy,
    QPolicy,
    SharedValueFunctionPolicy,
    ValueFunction,
)
from rlgraph.core import Component
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Space, Tuple
from rlgraph.testing.conformance.cases.case import FEATURES, PARTS, Case
from rlgraph.testing.conformance.gradients import LAYERS

ACTIONS = IntBox(4)


def _policy(kind: Callable[..., Component], action_space: Space = ACTIONS) -> Case:
    methods = ("get_q_values", "get_deterministic_action")
    return Case(
        lambda: kind(LAYERS, action_space=action_space), {"states": FEATURES}, methods, by=("states",)
    )


#: An action of every kind.
EVERYTHING = Dict(
    jump=BoolBox(), move=Tuple(IntBox(3), FloatBox(-1.0, 2.0, shape=(2,))), turn=FloatBox(shape=(2,))
)
STATES = {"nn_inputs": FEATURES, "actions": EVERYTHING.with_batch_rank()}
DETERMINISTIC = (
    "get_adapter_outputs_and_parameters",
    "get_deterministic_action",
    "get_log_likelihood",
    "get_entropy",
)

CASES: dict[str, Case] = {
    "policy": Case(
        lambda: Policy(LAYERS, IntBox(4)),
        {"nn_inputs": FEATURES, "actions": IntBox(4, add_batch_rank=True)},
        DETERMINISTIC,
        by=("nn_inputs",),
    ),
    "policy_parts": Case(lambda: Policy(LAYERS, EVERYTHING), STATES, DETERMINISTIC),
    "policy_parts_squashed": Case(
        lambda: Policy(
            LAYERS, EVERYTHING, distributions_spec={"bounded_distribution_type": "squashed_normal"}
        ),
        STATES,
        ("get_log_likelihood", "get_entropy"),
        by=("nn_inputs",),
    ),
    "shared_value_function_policy": Case(
        lambda: SharedValueFunctionPolicy(LAYERS, IntBox(4)),
        {"nn_inputs": FEATURES, "actions": IntBox(4, add_batch_rank=True)},
        ("get_state_values", "get_state_values_adapter_outputs_and_parameters", "get_entropy"),
        by=("nn_inputs",),
    ),
    "value_function": Case(
        lambda: ValueFunction(LAYERS), {"nn_inputs": FEATURES}, ("value_output",), by=("nn_inputs",)
    ),
    "dueling_policy": _policy(DuelingPolicy),
    "dueling_policy_parts": _policy(DuelingPolicy, PARTS),
    "network": Case(lambda: NeuralNetwork(LAYERS), {"inputs": FEATURES}, ("call",), by=("inputs",)),
    "q_policy": _policy(QPolicy),
    # Values of categories that an element does not have are infinite: no difference quotients.
    "q_policy_elements": replace(_policy(QPolicy, IntBox([2, 4, 3])), by=()),
    "q_policy_parts": _policy(QPolicy, PARTS),
}
