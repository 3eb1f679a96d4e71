"""The loss of actor-critic algorithms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.losses.loss_function import read_schedule
from rlgraph.components.losses.policy_gradient_loss import PolicyGradientLoss
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.core.functional.policy_gradient import policy_gradient_loss, sum_of_parts, value_loss
from rlgraph.core.specs.spec_types import ScheduleSpec


class ActorCriticLoss(PolicyGradientLoss):
    """Policy gradient, value function loss and entropy bonus of A2C and A3C (Mnih et al., 2016, Algorithm S3).

    ``-weight_pg * A log pi(a|s) + weight_vf * (R - V(s))^2 - weight_entropy * H``, https://arxiv.org/abs/1602.01783,
    with ``R = V(s) + A``. No gradient flows through advantages and targets. The log-probability of a container
    action is the sum of its parts'.

    Items are ``[B]``, or of sequences ``[T, B]`` or ``[B, T]``; the loss per item of sequences is ``[B]``.

    Args:
        weight_pg, weight_vf, weight_entropy: numbers or schedules.
        average_time_steps: the loss of a sequence is the mean of its steps; False: their sum.
        scope: name among its siblings.

    Raises:
        SpecError: a weight below 0.
    """

    item_arguments = ("state_values", "advantages")
    part_arguments = ("log_probs", "entropy")

    def __init__(
        self,
        weight_pg: ScheduleSpec = 1.0,
        weight_vf: ScheduleSpec = 0.5,
        weight_entropy: ScheduleSpec = 0.01,
        average_time_steps: bool = True,
        scope: str = "actor-critic-loss",
        **kwargs: Any,
    ):
        self.weight_pg = read_schedule(weight_pg, f"{scope}.weight_pg")
        self.weight_vf = read_schedule(weight_vf, f"{scope}.weight_vf")
        super().__init__(weight_entropy, average_time_steps, scope=scope, **kwargs)

    @rlgraph_api
    def loss_per_item(
        self,
        log_probs: Any,
        state_values: Any,
        advantages: Any,
        entropy: Any = None,
        time_percentage: Any = None,
        sequence_length: Any = None,
    ) -> Any:
        """All three parts, weighted, ``[B]``.

        Args:
            log_probs: of the actions taken [B], or a container of those of the parts.
            state_values: by the value function [B].
            advantages: of the actions, by `state_values` [B].
            entropy: of the policy, as `log_probs`; not needed if its weight is 0.
            time_percentage: the fraction of training done, []; only needed with a schedule.
            sequence_length: number of valid steps of each sequence [B]; default: all.
        """
        pg_loss = self.pg_loss_per_item(log_probs, advantages, entropy, time_percentage, sequence_length)
        value_function_loss = self.state_value_function_loss_per_item(
            state_values, advantages, sequence_length
        )
        return self._sum(pg_loss, value_function_loss, time_percentage)

    @rlgraph_api
    def pg_loss_per_item(
        self,
        log_probs: Any,
        advantages: Any,
        entropy: Any = None,
        time_percentage: Any = None,
        sequence_length: Any = None,
    ) -> Any:
        """The policy's part with the entropy bonus, weighted, ``[B]``; arguments as of `loss_per_item`."""
        return self._pg_loss(log_probs, advantages, entropy, time_percentage, sequence_length)

    @rlgraph_api
    def state_value_function_loss_per_item(
        self, state_values: Any, advantages: Any, sequence_length: Any = None
    ) -> Any:
        """The value function's part ``[B]``, without its weight; arguments as of `loss_per_item`."""
        return self._value_loss(state_values, advantages, sequence_length)

    @graph_fn(flatten_ops={"log_probs", "entropy"})
    def _pg_loss(
        self,
        ops: Any,
        log_probs: Mapping[str, Any],
        advantages: Any,
        entropy: Mapping[str, Any] | None = None,
        time_percentage: Any = None,
        sequence_length: Any = None,
    ) -> Any:
        rank = len(advantages.shape)
        joint = sum_of_parts(ops, list(log_probs.values()), rank)
        joint, advantages = (self.without_padding(ops, x, sequence_length) for x in (joint, advantages))
        losses = self.at(ops, "weight_pg", time_percentage) * policy_gradient_loss(ops, joint, advantages)
        losses = losses + self.entropy_part(ops, entropy, rank, time_percentage, sequence_length)
        return self.over_time(ops, losses, sequence_length, self.average_time_steps)

    @graph_fn
    def _value_loss(self, ops: Any, state_values: Any, advantages: Any, sequence_length: Any = None) -> Any:
        values, advantages = (
            self.without_padding(ops, x, sequence_length) for x in (state_values, advantages)
        )
        losses = value_loss(ops, values, values + advantages)
        return self.over_time(ops, losses, sequence_length, self.average_time_steps)

    @graph_fn
    def _sum(self, ops: Any, pg_loss: Any, value_function_loss: Any, time_percentage: Any = None) -> Any:
        """``[B], [B] -> [B]``."""
        return pg_loss + self.at(ops, "weight_vf", time_percentage) * value_function_loss
