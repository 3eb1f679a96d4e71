"""Cases of explorations."""

from __future__ import annotations

from rlgraph.components import (
    ConstantNoise,
    EpsilonGreedy,
    GaussianNoise,
    NoisyGreedy,
    OrnsteinUhlenbeckNoise,
)
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Space, Tuple
from rlgraph.testing.conformance.cases.case import FEATURES, MASK, MASKS, PARTS, VALUES, Case

STEER = FloatBox(-1.0, 1.0, shape=(2,))
DRIVE = Dict(jump=BoolBox(), steer=STEER)
TIME = FloatBox(0.0, 1.0)


def masked(mask: Space) -> Dict:
    """Observations with a mask."""
    return Dict(states=FEATURES, action_mask=mask, add_batch_rank=True)


CASES: dict[str, Case] = {
    "epsilon_greedy": Case(
        lambda: EpsilonGreedy(IntBox(4), epsilon_spec=0.5),
        {"actions": IntBox(4, add_batch_rank=True), "progress": TIME},
        ("get_action", "get_action"),
    ),
    "epsilon_greedy_parts": Case(
        lambda: EpsilonGreedy(PARTS, epsilon_spec=0.5),
        {"actions": PARTS.with_batch_rank(), "progress": TIME},
        ("get_action", "get_action"),
    ),
    "epsilon_greedy_masked": Case(
        lambda: EpsilonGreedy(IntBox(4), epsilon_spec=0.5),
        {"actions": IntBox(4, add_batch_rank=True), "observations": masked(MASK)},
        ("get_action", "get_action"),
    ),
    "epsilon_greedy_masked_parts": Case(
        lambda: EpsilonGreedy(PARTS, epsilon_spec=0.5),
        {"actions": PARTS.with_batch_rank(), "observations": masked(MASKS)},
        ("get_action", "get_action"),
    ),
    "noisy_greedy": Case(
        lambda: NoisyGreedy(IntBox(4), {"type": "gumbel", "scale": [1.0, 0.1]}),
        {"q_values": VALUES, "progress": TIME},
        ("get_action", "get_action"),
    ),
    "noisy_greedy_masked": Case(
        lambda: NoisyGreedy(IntBox(4), {"type": "gumbel"}),
        {"q_values": VALUES, "observations": masked(MASK)},
        ("get_action", "get_action"),
    ),
    "noisy_greedy_without_noise": Case(
        lambda: NoisyGreedy(IntBox(4), {"type": "gumbel"}),
        {"q_values": VALUES, "use_exploration": bool},
        ("get_action",),
    ),
    "constant_noise": Case(
        lambda: ConstantNoise(DRIVE, value=0.5), {"actions": DRIVE.with_batch_rank()}, ("get_action",)
    ),
    "gaussian_noise": Case(
        lambda: GaussianNoise(DRIVE, stddev=[1.0, 0.1]),
        {"actions": DRIVE.with_batch_rank(), "progress": TIME},
        ("get_action", "get_action"),
    ),
    "ornstein_uhlenbeck_noise": Case(
        lambda: OrnsteinUhlenbeckNoise(DRIVE),
        {
            "actions": DRIVE.with_batch_rank(),
            "observations": Dict(
                states=FEATURES, internal_states=Dict(exploration=Tuple(STEER)), add_batch_rank=True
            ),
        },
        ("get_action", "next_internal_states", "next_internal_states"),
    ),
}
