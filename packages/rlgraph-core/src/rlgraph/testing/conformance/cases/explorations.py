"""Cases of explorations."""

from __future__ import annotations

from rlgraph.components import EpsilonGreedy, NoisyGreedy
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.testing.conformance.cases.case import PARTS, VALUES, Case

CASES: dict[str, Case] = {
    "epsilon_greedy": Case(
        lambda: EpsilonGreedy(IntBox(4), epsilon_spec=0.5),
        {"actions": IntBox(4, add_batch_rank=True), "time_percentage": FloatBox(0.0, 1.0)},
        ("get_action", "get_action"),
    ),
    "epsilon_greedy_parts": Case(
        lambda: EpsilonGreedy(PARTS, epsilon_spec=0.5),
        {"actions": PARTS.with_batch_rank(), "time_percentage": FloatBox(0.0, 1.0)},
        ("get_action", "get_action"),
    ),
    "noisy_greedy": Case(
        lambda: NoisyGreedy(IntBox(4), {"type": "gumbel", "scale": [1.0, 0.1]}),
        {"q_values": VALUES, "time_percentage": FloatBox(0.0, 1.0)},
        ("get_action", "get_action"),
    ),
}
