"""The loss of actor-critic algorithms."""

from __future__ import annotations

from typing import Any

from rlgraph.components.losses.policy_gradient_loss import PolicyGradientLoss
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.core.functional.policy_gradient import value_loss
from rlgraph.core.specs.spec_types import ScheduleSpec


class ActorCriticLoss(PolicyGradientLoss):
    """Policy gradient, value function loss and entropy bonus of A2C and A3C (Mnih et al., 2016, Algorithm S3).

    ``-weight_pg * A log pi(a|s) + weight_vf * (R - V(s))^2 - weight_entropy * H``, https://arxiv.org/abs/1602.01783,
    with ``R = V(s) + A``. No gradient flows through advantages and targets. The log-probability of a container
    action is the sum of its parts'.

    Items are ``[B]``, or the steps of sequences, ``[T, B]`` or ``[B, T]``.

    Args:
        weight_pg, weight_vf, weight_entropy, average_time_steps: as in `PolicyGradientLoss`.

    Raises:
        SpecError: a weight below 0.
    """

    item_arguments = ("state_values", "advantages", "policy_advantages")
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
        super().__init__(weight_pg, weight_vf, weight_entropy, average_time_steps, scope=scope, **kwargs)

    @rlgraph_api
    def loss_per_item(
        self,
        log_probs: Any,
        state_values: Any,
        advantages: Any,
        entropy: Any = None,
        progress: Any = None,
        policy_advantages: Any = None,
        evaluated_values: Any = None,
    ) -> Any:
        """``{"loss", "policy_loss", "value_loss", "entropy"}``, each ``[B]``; ``loss`` is the weighted sum.

        Args:
            log_probs: of the actions taken [B], or a container of those of the parts.
            state_values: by the value function [B].
            advantages: of the actions, by `state_values` [B].
            entropy: of the policy, as `log_probs`; not needed if its weight is 0.
            progress: the fraction of training done, []; only needed with a schedule.
            policy_advantages: those of the policy's part, with rewards for exploration for example [B]; default:
                `advantages`.
            evaluated_values: `state_values` without dropout, and from running statistics, by which the advantages are
                [B]; default: `state_values`.
        """
        acted = advantages if policy_advantages is None else policy_advantages
        evaluated = state_values if evaluated_values is None else evaluated_values
        policy_loss = self._policy_loss(log_probs, acted)
        value_loss = self._value_loss(state_values, evaluated, advantages)
        return self.with_total(policy_loss, value_loss, entropy, progress)

    @graph_fn
    def _value_loss(self, ops: Any, state_values: Any, evaluated: Any, advantages: Any) -> Any:
        return value_loss(ops, state_values, evaluated + advantages)
