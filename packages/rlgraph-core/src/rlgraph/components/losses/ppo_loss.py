"""The loss of proximal policy optimization."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.losses.loss_function import read_schedule
from rlgraph.components.losses.policy_gradient_loss import PolicyGradientLoss
from rlgraph.core import SpecError, graph_fn, rlgraph_api
from rlgraph.core.errors import nearest
from rlgraph.core.functional.policy_gradient import (
    ppo_clipped_surrogate,
    ppo_clipped_value_loss,
    standardize,
    sum_of_parts,
    value_loss,
)
from rlgraph.core.specs.spec_types import ScheduleSpec

#: One probability ratio per action, or one per part of it.
RATIOS = ("action", "part")


class PPOLoss(PolicyGradientLoss):
    """Clipped surrogate objective, value function loss and entropy bonus (Schulman et al., 2017, eq. 9).

    ``L_clip + weight_vf * (V - V_target)^2 - weight_entropy * H``, https://arxiv.org/abs/1707.06347. The targets of the
    value function are ``prev_state_values + advantages``: with advantages of GAE its lambda-returns.

    Items are ``[B]``, or of sequences ``[T, B]`` or ``[B, T]``; the loss per item of sequences is ``[B]``.

    Args:
        clip_ratio: how far the ratio of new and old probability may move from 1; a number or a schedule.
        value_function_clipping: how far values may move from the old ones; a number or a schedule; None: no limit
            (the paper's equation).
        weight_entropy: weight of the entropy bonus; a number or a schedule.
        weight_vf: weight of the value function loss; a number or a schedule.
        standardize_advantages: scale the advantages of a batch to mean 0 and deviation 1, in the policy's part only.
        ratio_of: ``"action"``: a container action has one ratio, that of its joint probability; ``"part"``: each part
            has one, and the losses of the parts are averaged, as are their entropies, as in RLgraph 0.5.
        average_time_steps: the loss of a sequence is the mean of its steps; False: their sum.
        scope: name among its siblings.

    Raises:
        SpecError: a weight or limit below 0, or an unknown `ratio_of`.
    """

    item_arguments = ("state_values", "prev_state_values", "advantages")
    part_arguments = ("log_probs", "prev_log_probs", "entropy")

    def __init__(
        self,
        clip_ratio: ScheduleSpec = 0.2,
        value_function_clipping: ScheduleSpec = None,
        weight_entropy: ScheduleSpec = 0.0,
        weight_vf: ScheduleSpec = 1.0,
        standardize_advantages: bool = False,
        ratio_of: str = "action",
        average_time_steps: bool = True,
        scope: str = "ppo-loss",
        **kwargs: Any,
    ):
        if ratio_of not in RATIOS:
            raise SpecError(
                f"unknown {ratio_of!r}. {nearest(str(ratio_of), RATIOS)}", path=f"{scope}.ratio_of"
            )
        self.clip_ratio = read_schedule(clip_ratio, f"{scope}.clip_ratio")
        self.value_function_clipping = (
            None
            if value_function_clipping is None
            else read_schedule(value_function_clipping, f"{scope}.value_function_clipping")
        )
        self.weight_vf = read_schedule(weight_vf, f"{scope}.weight_vf")
        self.standardize_advantages = standardize_advantages
        self.ratio_of = ratio_of
        super().__init__(weight_entropy, average_time_steps, scope=scope, **kwargs)

    @rlgraph_api
    def loss_per_item(
        self,
        log_probs: Any,
        prev_log_probs: Any,
        state_values: Any,
        prev_state_values: Any,
        advantages: Any,
        entropy: Any = None,
        time_percentage: Any = None,
        sequence_length: Any = None,
    ) -> Any:
        """All three parts, weighted, ``[B]``.

        Args:
            log_probs: of the actions taken, by the learner's policy [B], or a container of those of its parts.
            prev_log_probs: of the same actions, by the behaviour policy, as `log_probs`.
            state_values: by the learner's value function [B].
            prev_state_values: by the value function at the time of acting [B].
            advantages: of the actions [B].
            entropy: of the learner's policy, as `log_probs`; not needed if its weight is 0.
            time_percentage: the fraction of training done, []; only needed with a schedule.
            sequence_length: number of valid steps of each sequence [B]; default: all.
        """
        pg_loss = self.pg_loss_per_item(
            log_probs, prev_log_probs, advantages, entropy, time_percentage, sequence_length
        )
        value_function_loss = self.value_function_loss_per_item(
            state_values, prev_state_values, advantages, time_percentage, sequence_length
        )
        return self._sum(pg_loss, value_function_loss, time_percentage)

    @rlgraph_api
    def pg_loss_per_item(
        self,
        log_probs: Any,
        prev_log_probs: Any,
        advantages: Any,
        entropy: Any = None,
        time_percentage: Any = None,
        sequence_length: Any = None,
    ) -> Any:
        """The policy's part with the entropy bonus ``[B]``; arguments as of `loss_per_item`."""
        return self._pg_loss(log_probs, prev_log_probs, advantages, entropy, time_percentage, sequence_length)

    @rlgraph_api
    def value_function_loss_per_item(
        self,
        state_values: Any,
        prev_state_values: Any,
        advantages: Any,
        time_percentage: Any = None,
        sequence_length: Any = None,
    ) -> Any:
        """The value function's part ``[B]``, without its weight; arguments as of `loss_per_item`."""
        return self._value_loss(state_values, prev_state_values, advantages, time_percentage, sequence_length)

    @graph_fn(flatten_ops={"log_probs", "prev_log_probs", "entropy"})
    def _pg_loss(
        self,
        ops: Any,
        log_probs: Mapping[str, Any],
        prev_log_probs: Mapping[str, Any],
        advantages: Any,
        entropy: Mapping[str, Any] | None = None,
        time_percentage: Any = None,
        sequence_length: Any = None,
    ) -> Any:
        rank, clip_ratio = len(advantages.shape), self.at(ops, "clip_ratio", time_percentage)
        advantages = self.without_padding(ops, advantages, sequence_length)
        if self.standardize_advantages:
            advantages = standardize(ops, advantages, self.mask_of(ops, sequence_length, advantages))
        groups = [[path] for path in log_probs] if self.ratio_of == "part" else [list(log_probs)]
        losses = []
        for paths in groups:
            joint = [
                sum_of_parts(ops, [parts[path] for path in paths], rank)
                for parts in (log_probs, prev_log_probs)
            ]
            new, old = (self.without_padding(ops, x, sequence_length) for x in joint)
            losses.append(ppo_clipped_surrogate(ops, new, old, advantages, clip_ratio))
        losses.append(self.entropy_part(ops, entropy, rank, time_percentage, sequence_length))
        mean = sum(losses[1:], start=losses[0]) * (1.0 / len(groups))
        return self.over_time(ops, mean, sequence_length, self.average_time_steps)

    @graph_fn
    def _value_loss(
        self,
        ops: Any,
        state_values: Any,
        prev_state_values: Any,
        advantages: Any,
        time_percentage: Any = None,
        sequence_length: Any = None,
    ) -> Any:
        values, old, advantages = (
            self.without_padding(ops, x, sequence_length)
            for x in (state_values, prev_state_values, advantages)
        )
        targets = old + advantages
        if self.value_function_clipping is None:
            losses = value_loss(ops, values, targets)
        else:
            limit = self.at(ops, "value_function_clipping", time_percentage)
            losses = ppo_clipped_value_loss(ops, values, old, targets, limit)
        return self.over_time(ops, losses, sequence_length, self.average_time_steps)

    @graph_fn
    def _sum(self, ops: Any, pg_loss: Any, value_function_loss: Any, time_percentage: Any = None) -> Any:
        """``[B], [B] -> [B]``."""
        return pg_loss + self.at(ops, "weight_vf", time_percentage) * value_function_loss
