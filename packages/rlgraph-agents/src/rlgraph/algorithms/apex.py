"""Distributed prioritized experience replay, Ape-X: Horgan et al. (2018), https://arxiv.org/abs/1803.00933."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rlgraph.algorithms.dqn import DQN
from rlgraph.components.common.argument_checks import check_number
from rlgraph.experience.replay import Replay
from rlgraph.spaces import IntBox, Space


class Apex(DQN):
    """Deep Q-learning from a prioritized memory that many actors fill, each with its own epsilon (Horgan et al., 2018).

    Args:
        state_space, action_space, options: see `DQN`.
        sync_interval: updates between two synchronizations of the target.
        epsilon_base, epsilon_alpha: actor i of N takes a random action with the probability ``epsilon_base ** (1 +
            epsilon_alpha * i / (N - 1))``, all the time. In one process, and with noise, `exploration_spec` holds.
    """

    experience = Replay.of(
        n_step=3,
        memory_spec={"type": "prioritized_replay", "capacity": 10**5},
        update_spec={"steps_before_update": 1000},
    )
    executor = "apex"
    schedule: ClassVar[Mapping[str, tuple[str, str]]] = {"sync_target": ("sync_interval", "updates")}
    test_alternatives: ClassVar[Mapping[str, Sequence[Any]]] = {
        **DQN.test_alternatives,
        "epsilon_base": [],  # of actors elsewhere
        "epsilon_alpha": [],
    }

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        *,
        sync_interval: int = 100,
        epsilon_base: float = 0.4,
        epsilon_alpha: float = 7.0,
        **options: Any,
    ):
        self.epsilon_base = check_number(epsilon_base, "epsilon_base", above=0, below=1)
        self.epsilon_alpha = check_number(epsilon_alpha, "epsilon_alpha", least=0)
        super().__init__(state_space, action_space, sync_interval=sync_interval, **options)
        if isinstance(action_space, IntBox) and not action_space.shape and not self.loss.value_rescaling:
            self.action_values = "q_values"

    @classmethod
    def options_of_actor(cls, options: Mapping[str, Any], number: int, count: int) -> Mapping[str, Any]:
        explores = options.get("exploration_spec") or {}
        if not isinstance(explores, Mapping) or "noise_spec" in explores:
            return options
        epsilon = {"type": "ape_x", "worker": number, "num_workers": count}
        given = {"base": "epsilon_base", "alpha": "epsilon_alpha"}
        epsilon |= {key: options[name] for key, name in given.items() if name in options}
        return {**options, "exploration_spec": {**explores, "epsilon_spec": epsilon}}
