"""Cases of policies and networks."""

from __future__ import annotations

from collections.abc import Callable

from rlgraph.components import DuelingPolicy, NeuralNetwork, QPolicy
from rlgraph.core import Component
from rlgraph.spaces import IntBox, Space
from rlgraph.testing.conformance.cases.case import FEATURES, PARTS, Case
from rlgraph.testing.conformance.gradients import LAYERS

ACTIONS = IntBox(4)


def _policy(kind: Callable[..., Component], action_space: Space = ACTIONS) -> Case:
    methods = ("get_q_values", "get_deterministic_action")
    return Case(
        lambda: kind(LAYERS, action_space=action_space), {"states": FEATURES}, methods, by=("states",)
    )


CASES: dict[str, Case] = {
    "dueling_policy": _policy(DuelingPolicy),
    "dueling_policy_parts": _policy(DuelingPolicy, PARTS),
    "network": Case(lambda: NeuralNetwork(LAYERS), {"inputs": FEATURES}, ("call",), by=("inputs",)),
    "q_policy": _policy(QPolicy),
    "q_policy_elements": _policy(QPolicy, IntBox([2, 4, 3])),
    "q_policy_parts": _policy(QPolicy, PARTS),
}
