"""Cases of explorations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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


PROGRESS = {"progress": FloatBox(0.0, 1.0)}


def masked(mask: Space) -> dict[str, Space]:
    """Observations with a mask."""
    return {"observations": Dict(states=FEATURES, action_mask=mask, add_batch_rank=True)}


def _epsilon(action_space: Space, others: Mapping[str, Space]) -> Case:
    spaces = {"actions": action_space.with_batch_rank(), **others}
    return Case(lambda: EpsilonGreedy(action_space, epsilon_spec=0.5), spaces, ("get_action",) * 2)


def _noisy(others: Mapping[str, Any], scale: Any = 1.0, calls: int = 2) -> Case:
    noise = {"type": "gumbel", "scale": scale}
    spaces = {"q_values": VALUES, **others}
    return Case(lambda: NoisyGreedy(IntBox(4), noise), spaces, ("get_action",) * calls)


MOVES: dict[str, Space] = {"actions": DRIVE.with_batch_rank()}

CASES: dict[str, Case] = {
    "epsilon_greedy": _epsilon(IntBox(4), PROGRESS),
    "epsilon_greedy_parts": _epsilon(PARTS, PROGRESS),
    "epsilon_greedy_masked": _epsilon(IntBox(4), masked(MASK)),
    "epsilon_greedy_masked_parts": _epsilon(PARTS, masked(MASKS)),
    "noisy_greedy": _noisy(PROGRESS, [1.0, 0.1]),
    "noisy_greedy_masked": _noisy(masked(MASK)),
    "noisy_greedy_without_noise": _noisy({"use_exploration": bool}, calls=1),
    "constant_noise": Case(lambda: ConstantNoise(DRIVE, value=0.5), MOVES, ("get_action",)),
    "gaussian_noise": Case(
        lambda: GaussianNoise(DRIVE, stddev=[1.0, 0.1]), {**MOVES, **PROGRESS}, ("get_action",) * 2
    ),
    "ornstein_uhlenbeck_noise": Case(
        lambda: OrnsteinUhlenbeckNoise(DRIVE),
        {
            **MOVES,
            "observations": Dict(
                states=FEATURES, internal_states=Dict(exploration=Tuple(STEER)), add_batch_rank=True
            ),
        },
        ("get_action", "next_internal_states", "next_internal_states"),
    ),
}
