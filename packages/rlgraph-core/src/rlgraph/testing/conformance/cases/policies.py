"""Cases of policies and networks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from rlgraph.components import (
    ActorComponent,
    DeterministicPolicy,
    DuelingPolicy,
    NeuralNetwork,
    Policy,
    QPolicy,
    SharedValueFunctionPolicy,
    ValueFunction,
)
from rlgraph.components.policies.return_distributions import CategoricalReturns, QuantileReturns
from rlgraph.core import Component
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Space, Tuple
from rlgraph.testing.conformance.cases.case import FEATURES, MASK, MASKS, PARTS, Case
from rlgraph.testing.conformance.gradients import LAYERS
from rlgraph.testing.observation_parts import ObservationParts

ACTIONS = IntBox(4)


def _policy(kind: Callable[..., Component], action_space: Space = ACTIONS) -> Case:
    methods = ("get_q_values", "get_deterministic_action")
    return Case(
        lambda: kind(LAYERS, action_space=action_space),
        {"observations": FEATURES},
        methods,
        by=("observations",),
    )


MOVES = Dict(move=FloatBox([-1.0, 0.0], [2.0, 1.0]), turn=FloatBox(-1.0, 1.0))
#: An action of every kind.
EVERYTHING = Dict(
    jump=BoolBox(), move=Tuple(IntBox(3), FloatBox(-1.0, 2.0, shape=(2,))), turn=FloatBox(shape=(2,))
)
STATES = {"observations": FEATURES, "actions": EVERYTHING.with_batch_rank()}
#: A network with memory; its sequences, states ahead of the first step, and beginnings of episodes.
RECURRENT = [
    {"type": "dense", "units": 3, "activation": "tanh"},
    {"type": "lstm", "units": 2},
    {"type": "residual", "residual_unit": {"type": "gru", "units": 2, "scope": "gru"}, "repeats": 1},
]
SEQUENCES = FEATURES.with_extra_ranks(True, True, True)
STATE = FloatBox(-1.0, 1.0, shape=(2,))
OF_NETWORK = Dict(lstm_1=Tuple(STATE, STATE), residual_2=Dict(unit_0=STATE), add_batch_rank=True)
STATES_AND_RESETS: dict[str, Space] = {
    "internal_states": Dict(policy=OF_NETWORK),
    "resets": BoolBox(add_batch_rank=True, add_time_rank=True, time_major=True),
}
DETERMINISTIC = (
    "get_adapter_outputs_and_parameters",
    "get_deterministic_action",
    "get_log_likelihood",
    "get_entropy",
)

GREEDY = ("get_q_values_and_action", "get_deterministic_action")

HALVES = [{"type": "multiply", "factor": 0.5}]
ACTOR = "get_preprocessed_state_and_action"

CASES: dict[str, Case] = {
    "actor_component": Case(
        lambda: ActorComponent(HALVES, Policy(LAYERS, Dict(a=IntBox(3), b=IntBox(2)))),
        {"observations": FEATURES},
        (ACTOR, "get_preprocessed_state_action_and_action_probs"),
        by=("observations",),
    ),
    "actor_component_explores": Case(
        lambda: ActorComponent(HALVES, QPolicy(LAYERS, IntBox(4)), {"epsilon_spec": 0.5}),
        {"observations": FEATURES, "progress": FloatBox(0.0, 1.0)},
        (ACTOR,),
    ),
    "actor_component_masked": Case(
        lambda: ActorComponent(HALVES, QPolicy(LAYERS, IntBox(4)), {"epsilon_spec": 0.5}),
        {"observations": {"states": FEATURES, "action_mask": MASK}},
        (ACTOR,),
    ),
    "actor_component_recurrent": Case(
        lambda: ObservationParts(
            ActorComponent(None, Policy([{"type": "lstm", "units": 2, "scope": "core"}], FloatBox(-1.0, 1.0)))
        ),
        {
            "states": FEATURES,
            "internal_states": Dict(policy=Dict(core=Tuple(STATE, STATE)), add_batch_rank=True),
        },
        (ACTOR,),
        by=("states", "internal_states"),
    ),
    "policy": Case(
        lambda: Policy(LAYERS, IntBox(4)),
        {"observations": FEATURES, "actions": IntBox(4, add_batch_rank=True)},
        DETERMINISTIC,
        by=("observations",),
    ),
    "policy_parts": Case(lambda: Policy(LAYERS, EVERYTHING), STATES, DETERMINISTIC),
    "policy_parts_squashed": Case(
        lambda: Policy(
            LAYERS, EVERYTHING, distributions_spec={"bounded_distribution_type": "squashed_normal"}
        ),
        STATES,
        ("get_log_likelihood", "get_entropy"),
        by=("observations",),
    ),
    "shared_value_function_policy": Case(
        lambda: SharedValueFunctionPolicy(LAYERS, IntBox(4)),
        {"observations": FEATURES, "next_observations": FEATURES, "actions": IntBox(4, add_batch_rank=True)},
        ("get_values_of_transitions", "get_state_values_adapter_outputs_and_parameters", "get_entropy"),
        by=("observations",),
    ),
    "policy_elements": Case(
        lambda: Policy(LAYERS, IntBox([2, 1], [4, 6])),
        {"observations": FEATURES, "actions": IntBox([2, 1], [4, 6], add_batch_rank=True)},
        DETERMINISTIC,
        by=("observations",),
    ),
    "policy_recurrent": Case(
        lambda: ObservationParts(Policy(RECURRENT, IntBox(4))),
        {"states": SEQUENCES, "actions": IntBox(4).with_extra_ranks(True, True, True), **STATES_AND_RESETS},
        (*DETERMINISTIC, "get_log_likelihood_per_part"),
        by=("states", "internal_states"),
    ),
    "q_policy_recurrent": Case(
        lambda: ObservationParts(DuelingPolicy(RECURRENT, PARTS)),
        {"states": SEQUENCES, **STATES_AND_RESETS},
        ("get_q_values_and_action",),
        by=("states", "internal_states"),
    ),
    "value_function_recurrent": Case(
        lambda: ObservationParts(ValueFunction(RECURRENT, scope="policy")),
        {"states": SEQUENCES, "next_observations": SEQUENCES, **STATES_AND_RESETS},
        ("get_state_values", "get_values_of_transitions"),
        by=("states", "next_observations", "internal_states"),
    ),
    "network_recurrent": Case(
        lambda: NeuralNetwork(RECURRENT),
        {"inputs": SEQUENCES, **STATES_AND_RESETS, "internal_states": OF_NETWORK},
        ("call_with_states",),
        by=("inputs", "internal_states"),
    ),
    "value_function": Case(
        lambda: ValueFunction(LAYERS),
        {"observations": FEATURES, "next_observations": FEATURES},
        ("value_output", "get_values_of_transitions"),
        by=("observations", "next_observations"),
    ),
    "deterministic_policy": Case(
        lambda: DeterministicPolicy(LAYERS, MOVES),
        {"observations": FEATURES},
        ("get_deterministic_action",),
        by=("observations",),
    ),
    "deterministic_policy_in_time": Case(
        lambda: DeterministicPolicy(RECURRENT, MOVES),
        {"observations": SEQUENCES},
        ("get_deterministic_action",),
    ),
    "dueling_policy": _policy(DuelingPolicy),
    "dueling_policy_quantiles": _policy(partial(DuelingPolicy, returns=QuantileReturns(5)), PARTS),
    "dueling_policy_parts": _policy(DuelingPolicy, PARTS),
    "network": Case(lambda: NeuralNetwork(LAYERS), {"inputs": FEATURES}, ("call",), by=("inputs",)),
    "q_policy": _policy(QPolicy),
    "q_policy_categorical": _policy(partial(QPolicy, returns=CategoricalReturns(5, -1.0, 2.0))),
    # Values of categories that an element does not have are infinite: no difference quotients.
    "q_policy_elements": replace(_policy(QPolicy, IntBox([2, 4, 3])), by=()),
    "q_policy_parts": _policy(QPolicy, PARTS),
    # Values of masked actions are -1e30, in which others are lost: no difference quotients.
    "q_policy_masked": Case(
        lambda: ObservationParts(QPolicy(LAYERS, IntBox(4))),
        {"states": FEATURES, "action_mask": MASK},
        GREEDY,
    ),
    "q_policy_masked_elements": Case(
        lambda: QPolicy(LAYERS, IntBox([2, 4, 3])),
        {"observations": Dict(states=FEATURES, action_mask=BoolBox(shape=(3, 4)), add_batch_rank=True)},
        GREEDY,
    ),
    "dueling_policy_masked_recurrent": Case(
        lambda: ObservationParts(DuelingPolicy(RECURRENT, PARTS)),
        {"states": SEQUENCES, "action_mask": MASKS.with_extra_ranks(True, True, True), **STATES_AND_RESETS},
        GREEDY,
    ),
}
