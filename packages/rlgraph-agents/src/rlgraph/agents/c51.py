"""C51, Q-learning of distributions on fixed atoms: Bellemare et al. (2017), https://arxiv.org/abs/1707.06887.

With double Q-learning, the dueling architecture, a prioritized memory, n-step returns and noisy layers it is Rainbow:
Hessel et al. (2018), https://arxiv.org/abs/1710.02298.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from rlgraph.agents.q_learning import QLearning, QLearningAgent
from rlgraph.components import CategoricalDQNLoss
from rlgraph.components.policies.return_distributions import CategoricalReturns
from rlgraph.spaces import Space


class C51(QLearning):
    """Learns the probabilities of `num_atoms` evenly spaced returns of each action (Bellemare et al., 2017).

    Args:
        state_space, action_space, options: see `QLearning`.
        num_atoms, low, high: how many returns, the smallest and the largest; returns beyond count as these.
        double_q, dueling_q: see `QLearning`; the paper has neither.
    """

    name = "c51"

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
        self.make_loss = partial(CategoricalDQNLoss, low, high)
        super().__init__(state_space, action_space, double_q=double_q, dueling_q=dueling_q, **options)


class C51Agent(QLearningAgent):
    algorithm_class = C51
