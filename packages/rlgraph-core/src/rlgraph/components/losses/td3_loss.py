"""The losses of TD3 and DDPG."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.named_values import api_of
from rlgraph.components.losses.critics_loss import CriticsLoss
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.core.functional.td3 import critic_loss, deterministic_policy_gradient_loss, td3_target


class TD3Loss(CriticsLoss):
    """Losses of critics and actor (Fujimoto et al., 2018, Algorithm 1, https://arxiv.org/abs/1802.09477).

    Each has its own optimizer: ``critic_loss`` and ``actor_loss``; ``loss`` is that of the critics. The agent adds the
    noise on the target policy's actions (`rlgraph.core.functional.td3.smoothed_actions`). With one critic and without
    noise these are the losses of DDPG (Lillicrap et al., 2016, https://arxiv.org/abs/1509.02971).

    Args:
        discount: discount factor in [0, 1].
        num_q_functions: number of critics; the smallest of the target critics' values is used.

    Raises:
        SpecError: a discount outside [0, 1], or no critic.
    """

    item_arguments = ("rewards", "terminals", "q_values_policy", "discounts")
    critic_arguments = ("q_values_next", "q_values")

    def __init__(
        self, discount: float = 0.99, num_q_functions: int = 2, scope: str = "td3-loss", **kwargs: Any
    ):
        super().__init__(discount, num_q_functions, scope, **kwargs)

    @rlgraph_api
    def loss_per_item(
        self,
        q_values_next: Any,
        q_values: Any,
        q_values_policy: Any,
        rewards: Any,
        terminals: Any,
        discounts: Any = None,
    ) -> Any:
        """``{"loss", "critic_loss", "actor_loss"}``, each ``[B]``; ``loss`` is that of the critics.

        Where the policy is not updated, `q_values_policy` is None, and there is no ``actor_loss``.

        Args:
            q_values_next: a tuple of the target critics' values of the target policy's smoothed actions, each [B].
            q_values: a tuple of the critics' values of the actions taken, each [B].
            q_values_policy: the first critic's values of the policy's actions [B].
            rewards: rewards [B], or discounted sums of several.
            terminals: where the episode terminated [B], bool; truncation is not termination.
            discounts: discount of the value of each next state [B]; default: `discount`.
        """
        critic_loss = self._critic_loss(q_values_next, q_values, rewards, terminals, discounts)
        losses = {"loss": critic_loss, "critic_loss": critic_loss}
        if q_values_policy is not None:
            losses["actor_loss"] = self._actor_loss(q_values_policy)
        return losses

    @graph_fn
    def _critic_loss(
        self, ops: Any, q_values_next: Any, q_values: Any, rewards: Any, terminals: Any, discounts: Any = None
    ) -> Any:
        """The sum of the critics' losses ``[B]``; arguments as of `loss_per_item`."""
        discount = self.discount if discounts is None else discounts
        next_value = self.target_value(ops, q_values_next)
        return critic_loss(ops, q_values, td3_target(ops, rewards, terminals, [next_value], discount))

    @graph_fn
    def _actor_loss(self, ops: Any, q_values_policy: Any) -> Any:
        """The policy's loss ``[B]``; arguments as of `loss_per_item`."""
        return deterministic_policy_gradient_loss(ops, q_values_policy)

    critic_loss_per_item = api_of("critic_loss_per_item", _critic_loss)
    actor_loss_per_item = api_of("actor_loss_per_item", _actor_loss)
