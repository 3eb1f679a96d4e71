"""C51, Q-learning of distributions on fixed atoms: Bellemare et al. (2017), https://arxiv.org/abs/1707.06887."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rlgraph.algorithms.q_learning import QLearning
from rlgraph.components import CategoricalDQNLoss
from rlgraph.components.policies.return_distributions import CategoricalReturns
from rlgraph.core.specs.spec_types import ComponentSpec
from rlgraph.experience.replay import Replay
from rlgraph.spaces import Space


class C51(QLearning):
    """Learns the probabilities of `num_atoms` evenly spaced returns of each action (Bellemare et al., 2017).

    Args:
        state_space, action_space, options: see `QLearning`.
        num_atoms, low, high: how many returns, the smallest and the largest; returns beyond count as these.
        double_q, dueling_q: see `QLearning`; the paper has neither.
    """

    name = "c51"
    make_loss: Any = CategoricalDQNLoss
    search_space: ClassVar[Mapping[str, Any]] = {**QLearning.search_space, "num_atoms": [21, 51, 101]}
    test_options: ClassVar[Mapping[str, Any]] = {"low": 0.0, "high": 2.0}  # returns of small tasks

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        *,
        num_atoms: int = 51,
        low: float = -10.0,
        high: float = 10.0,
        double_q: bool = False,
        dueling_q: bool = False,
        **options: Any,
    ):
        self.returns = CategoricalReturns(num_atoms, low, high)
        self.loss_options = {"low": low, "high": high}
        super().__init__(state_space, action_space, double_q=double_q, dueling_q=dueling_q, **options)


class Rainbow(C51):
    """C51 with other defaults, which combine it with five more extensions of DQN (Hessel et al., 2018).

    They are double Q-learning, the dueling architecture, a prioritized memory, returns of three steps, and noisy layers
    in place of random actions: https://arxiv.org/abs/1710.02298.

    Args:
        state_space, action_space, options: see `C51`.
        double_q, dueling_q: see `QLearning`; the paper has both.
        policy_spec: its layers are noisy unless it says otherwise. Layers of `network_spec` are noisy only if they are
            ``noisy_dense``.
        exploration_spec: default: none besides the noise of layers.
    """

    name = "rainbow"
    experience = Replay.of(
        n_step=3,
        memory_spec={"type": "prioritized_replay", "capacity": 10**5, "alpha": 0.5, "beta": [0.4, 1.0]},
    )

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        *,
        double_q: bool = True,
        dueling_q: bool = True,
        policy_spec: Mapping[str, Any] | None = None,
        exploration_spec: ComponentSpec = None,
        **options: Any,
    ):
        super().__init__(
            state_space,
            action_space,
            double_q=double_q,
            dueling_q=dueling_q,
            policy_spec={"noisy": True, **(policy_spec or {})},
            exploration_spec={"epsilon_spec": 0.0} if exploration_spec is None else exploration_spec,
            **options,
        )
