"""QR-DQN, Q-learning of quantiles: Dabney et al. (2018), https://arxiv.org/abs/1710.10044."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rlgraph.algorithms.q_learning import QLearning
from rlgraph.components import QuantileDQNLoss
from rlgraph.components.policies.return_distributions import QuantileReturns
from rlgraph.spaces import Space


class QRDQN(QLearning):
    """Learns `num_quantiles` quantiles of the return of each action (Dabney et al., 2018).

    Args:
        state_space, action_space, options: see `QLearning`.
        num_quantiles: how many.
        huber_delta: errors up to this one count quadratically, the paper's kappa.
        double_q, dueling_q: see `QLearning`; the paper has neither.
    """

    name = "qr-dqn"
    make_loss: Any = QuantileDQNLoss
    search_space: ClassVar[Mapping[str, Any]] = {
        **QLearning.search_space,
        "num_quantiles": [10, 25, 50, 100, 200],
    }
    test_options: ClassVar[Mapping[str, Any]] = {"num_quantiles": 10}  # fewer have smaller gradients

    def __init__(
        self,
        state_space: Space,
        action_space: Space,
        *,
        num_quantiles: int = 200,
        huber_delta: float = 1.0,
        double_q: bool = False,
        dueling_q: bool = False,
        **options: Any,
    ):
        self.returns = QuantileReturns(num_quantiles)
        self.loss_options = {"huber_delta": huber_delta}
        super().__init__(state_space, action_space, double_q=double_q, dueling_q=dueling_q, **options)
