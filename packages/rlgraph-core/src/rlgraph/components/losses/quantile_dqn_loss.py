"""The loss of QR-DQN."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.losses.distributional_loss import DistributionalLoss
from rlgraph.core.functional.distributional import distributional_targets, quantile_huber_loss, quantile_means


class QuantileDQNLoss(DistributionalLoss):
    """Quantile regression of returns, QR-DQN (Dabney et al., 2018, Algorithm 1, https://arxiv.org/abs/1710.10044).

    Action values are N quantiles of the return, ``[B, A, N]``. `get_td_errors` are differences of means.

    Args:
        huber_delta: largest error at which the loss is quadratic, the paper's kappa; 0: nowhere (QR-DQN-0).
        discount: discount factor in [0, 1].
        double_q: choose the next action with the online network.

    Raises:
        SpecError: a discount outside [0, 1], or `huber_delta` below 0.
    """

    def __init__(
        self,
        huber_delta: float = 1.0,
        discount: float = 0.99,
        double_q: bool = False,
        scope: str = "quantile-dqn-loss",
        **kwargs: Any,
    ):
        self.huber_delta = check_number(huber_delta, f"{scope}.huber_delta", least=0)
        super().__init__(discount, double_q, scope=scope, **kwargs)

    def means(self, ops: Any, values: Any) -> Any:
        return quantile_means(ops, values)

    def targets(self, ops: Any, following: Any, rewards: Any, terminals: Any, discount: Any) -> Any:
        return distributional_targets(ops, rewards, terminals, following, discount)

    def penalties(self, ops: Any, taken: Any, targets: Any) -> Any:
        return quantile_huber_loss(ops, taken, targets, self.huber_delta)

    def errors(self, ops: Any, taken: Any, targets: Any) -> Any:
        return ops.abs(quantile_means(ops, targets) - quantile_means(ops, taken))
