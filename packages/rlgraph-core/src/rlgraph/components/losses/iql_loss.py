"""The losses of implicit Q-learning."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.losses.critics_loss import CriticsLoss
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.core.functional.implicit_q_learning import advantage_weights, expectile_loss
from rlgraph.core.functional.td3 import critic_loss, td3_target


class IQLLoss(CriticsLoss):
    """Losses of critics, value function and policy (Kostrikov et al., 2022, https://arxiv.org/abs/2110.06169).

    No loss evaluates actions that were not taken. Each has its own optimizer; ``loss`` is that of the critics.

    Args:
        expectile: the value function approaches this expectile of the critics' values of the data's actions; 0.5 is
            their mean, towards 1 it is their maximum.
        inverse_temperature: how much the policy prefers better actions; 0 imitates all.
        weight_limit: the largest weight of an action in the policy's loss.
        discount: discount factor in [0, 1].
        num_q_functions: number of critics; the smallest of the target critics' values is used.

    Raises:
        SpecError: an expectile outside (0, 1), a discount outside [0, 1], no critic, or another number below its bound.
    """

    item_arguments = (
        "rewards",
        "terminals",
        "state_values",
        "next_state_values",
        "log_likelihood",
        "discounts",
        "evaluated_values",
    )
    critic_arguments = ("q_values", "q_values_target")

    def __init__(
        self,
        expectile: float = 0.7,
        inverse_temperature: float = 3.0,
        weight_limit: float = 100.0,
        discount: float = 0.99,
        num_q_functions: int = 2,
        scope: str = "iql-loss",
        **kwargs: Any,
    ):
        self.expectile = check_number(expectile, f"{scope}.expectile", above=0, below=1)
        self.inverse_temperature = check_number(inverse_temperature, f"{scope}.inverse_temperature", least=0)
        self.weight_limit = check_number(weight_limit, f"{scope}.weight_limit", above=0)
        super().__init__(discount, num_q_functions, scope, **kwargs)

    @rlgraph_api
    def loss_per_item(
        self,
        state_values: Any,
        next_state_values: Any,
        q_values: Any,
        q_values_target: Any,
        log_likelihood: Any,
        rewards: Any,
        terminals: Any,
        discounts: Any = None,
        evaluated_values: Any = None,
    ) -> Any:
        """``{"loss", "critic_loss", "value_loss", "actor_loss"}``, each ``[B]``; ``loss`` is that of the critics.

        Args:
            state_values, next_state_values: the values of states and next states [B].
            q_values, q_values_target: tuples of the critics' and the target critics' values of the actions taken, each
                [B].
            log_likelihood: the policy's log-probability of the actions taken [B].
            rewards: rewards [B], or discounted sums of several.
            terminals: where the episode terminated [B], bool; truncation is not termination.
            discounts: discount of the value of each next state [B]; default: `discount`.
            evaluated_values: `state_values` without dropout, and from running statistics, of which the weights of the
                policy's loss are made; default: these.
        """
        critic = self._critic_loss(next_state_values, q_values, rewards, terminals, discounts)
        evaluated = state_values if evaluated_values is None else evaluated_values
        value, actor = self._value_and_actor_loss(state_values, evaluated, q_values_target, log_likelihood)
        return {"loss": critic, "critic_loss": critic, "value_loss": value, "actor_loss": actor}

    @graph_fn
    def _critic_loss(
        self,
        ops: Any,
        next_state_values: Any,
        q_values: Any,
        rewards: Any,
        terminals: Any,
        discounts: Any = None,
    ) -> Any:
        """Eq. 6, the sum over the critics."""
        discount = self.discount if discounts is None else discounts
        return critic_loss(ops, q_values, td3_target(ops, rewards, terminals, [next_state_values], discount))

    @graph_fn(returns=2)
    def _value_and_actor_loss(
        self, ops: Any, state_values: Any, evaluated_values: Any, q_values_target: Any, log_likelihood: Any
    ) -> Any:
        """Eq. 5 and 7."""
        q_values = ops.stop_gradient(self.target_value(ops, q_values_target))
        weights = advantage_weights(
            ops, q_values - evaluated_values, self.inverse_temperature, self.weight_limit
        )
        return expectile_loss(ops, q_values - state_values, self.expectile), -weights * log_likelihood
