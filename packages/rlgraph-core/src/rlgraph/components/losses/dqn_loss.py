"""The loss of deep Q-learning."""

from __future__ import annotations

from typing import Any

from rlgraph.core import Component, SpecError, graph_fn, rlgraph_api
from rlgraph.core.functional.q_learning import action_values, double_q_next_values, huber, q_learning_target


class DQNLoss(Component):
    """Mean of squared (or Huber) temporal-difference errors (Mnih et al., 2015).

    Args:
        discount: discount factor in [0, 1].
        double_q: choose the next action with the online network (van Hasselt et al., 2016).
        huber_loss: Huber instead of half the square; limits the gradient of large errors to 1.
        scope: name among its siblings.
    """

    def __init__(
        self,
        discount: float = 0.99,
        double_q: bool = True,
        huber_loss: bool = False,
        scope: str = "loss",
        **kwargs: Any,
    ):
        if not isinstance(discount, int | float) or not 0.0 <= discount <= 1.0:
            raise SpecError(f"{scope}.discount: expected a number in [0, 1], given {discount!r}")
        self.discount = float(discount)
        self.double_q = double_q
        self.huber_loss = huber_loss
        super().__init__(scope=scope, **kwargs)

    @rlgraph_api
    def loss(
        self, q_values: Any, actions: Any, rewards: Any, terminals: Any, q_next: Any, q_next_target: Any
    ) -> Any:
        """The mean loss [] and the loss per item [B].

        Args:
            q_values: online values of the states [B, A].
            actions: actions taken [B].
            rewards: rewards [B].
            terminals: where the episode terminated [B], bool; truncation is no termination.
            q_next: online values of the next states [B, A]; not used without double Q.
            q_next_target: target network's values of the next states [B, A].
        """
        return self._loss(q_values, actions, rewards, terminals, q_next, q_next_target)

    @graph_fn(returns=2)
    def _loss(
        self,
        ops: Any,
        q_values: Any,
        actions: Any,
        rewards: Any,
        terminals: Any,
        q_next: Any,
        q_next_target: Any,
    ) -> Any:
        if self.double_q:
            next_values = double_q_next_values(ops, q_next, q_next_target)
        else:
            next_values = ops.max(q_next_target, axis=1)
        targets = q_learning_target(ops, rewards, terminals, next_values, self.discount)
        errors = targets - action_values(ops, q_values, actions)
        per_item = huber(ops, errors) if self.huber_loss else 0.5 * ops.square(errors)
        return ops.mean(per_item), per_item
