"""The loss of proximal policy optimization."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlgraph.components.common.argument_checks import check_choice
from rlgraph.components.common.named_values import Parts
from rlgraph.components.helpers.standardize import Standardize
from rlgraph.components.losses.loss_function import read_schedule
from rlgraph.components.losses.policy_gradient_loss import PolicyGradientLoss
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.core.functional.off_policy import importance_ratios
from rlgraph.core.functional.policy_gradient import (
    divergence_estimate,
    ppo_clipped_surrogate,
    ppo_clipped_value_loss,
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

    Items are ``[B]``, or the steps of sequences, ``[T, B]`` or ``[B, T]``.

    Args:
        clip_ratio: how far the ratio of new and old probability may move from 1; a number or a schedule.
        value_function_clipping: how far values may move from the old ones; a number or a schedule; None: no limit
            (the paper's equation).
        weight_entropy: weight of the entropy bonus; a number or a schedule.
        weight_vf: weight of the value function loss; a number or a schedule.
        standardize_advantages: scale the advantages of a batch to mean 0 and deviation 1, in the policy's part only.
        ratio_of: ``"action"``: a container action has one ratio, that of its joint probability; ``"part"``: each part
            has one, and the losses of the parts are averaged, as are their entropies, as in RLgraph 0.5.
        average_time_steps: as in `LossFunction`.

    Raises:
        SpecError: a weight or limit below 0, or an unknown `ratio_of`.
    """

    item_arguments = ("state_values", "prev_state_values", "advantages", "policy_advantages")
    part_arguments = ("log_probs", "prev_log_probs", "entropy")
    measures = ("entropy", "kl", "clip_fraction")

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
        self.ratio_of = check_choice(ratio_of, f"{scope}.ratio_of", RATIOS)
        self.clip_ratio = read_schedule(clip_ratio, f"{scope}.clip_ratio")
        self.value_function_clipping = None
        if value_function_clipping is not None:
            limit = read_schedule(value_function_clipping, f"{scope}.value_function_clipping")
            self.value_function_clipping = limit
        super().__init__(1.0, weight_vf, weight_entropy, average_time_steps, scope=scope, **kwargs)
        self.standardize = Standardize() if standardize_advantages else None
        if self.standardize is not None:
            self.add_components(self.standardize)

    @rlgraph_api
    def loss_per_item(
        self,
        log_probs: Any,
        prev_log_probs: Any,
        state_values: Any,
        prev_state_values: Any,
        advantages: Any,
        entropy: Any = None,
        progress: Any = None,
        weights: Any = None,
        policy_advantages: Any = None,
    ) -> Any:
        """``{"loss", "policy_loss", "value_loss", "entropy", "kl", "clip_fraction"}``, each ``[B]``.

        ``loss`` is the weighted sum, ``kl`` an estimate of the divergence from the behaviour policy (the mean counts),
        ``clip_fraction`` 1 where the ratio is clipped.

        Args:
            log_probs: of the actions taken, by the learner's policy [B], or a container of those of its parts.
            prev_log_probs: of the same actions, by the behaviour policy, as `log_probs`.
            state_values: by the learner's value function [B].
            prev_state_values: by the value function at the time of acting [B].
            advantages: of the actions [B].
            entropy: of the learner's policy, as `log_probs`; not needed if its weight is 0.
            progress: the fraction of training done, []; only needed with a schedule.
            weights: of the items [B]; advantages are standardized over those above 0.
            policy_advantages: those of the policy's part, standardized over a larger batch for example [B]; default:
                `advantages`.
        """
        acted = advantages if policy_advantages is None else policy_advantages
        policy_loss = self.policy_loss(log_probs, prev_log_probs, acted, progress, weights)
        value_loss = self._value_loss(state_values, prev_state_values, advantages, progress)
        return {
            **self.with_total(policy_loss, value_loss, entropy, progress),
            "kl": self._divergence(log_probs, prev_log_probs),
            "clip_fraction": self._is_clipped(log_probs, prev_log_probs, progress),
        }

    def policy_loss(
        self, log_probs: Any, prev_log_probs: Any, advantages: Any, progress: Any = None, weights: Any = None
    ) -> Any:
        """The clipped objective as a loss ``[B]``, for use in API methods; arguments as of `loss_per_item`."""
        if self.standardize is not None:
            advantages = self.standardize.standardize(advantages, weights)
        return self._policy_loss(log_probs, prev_log_probs, advantages, progress)

    @graph_fn(flatten_ops={"log_probs", "prev_log_probs"})
    def _policy_loss(
        self, ops: Any, log_probs: Parts, prev_log_probs: Parts, advantages: Any, progress: Any = None
    ) -> Any:
        clip_ratio = self.at(ops, "clip_ratio", progress)
        groups = self._groups(ops, log_probs, prev_log_probs)
        return _mean([ppo_clipped_surrogate(ops, *group, advantages, clip_ratio) for group in groups])

    @graph_fn(flatten_ops={"log_probs", "prev_log_probs"})
    def _is_clipped(self, ops: Any, log_probs: Parts, prev_log_probs: Parts, progress: Any = None) -> Any:
        clip_ratio = self.at(ops, "clip_ratio", progress)
        ratios = [importance_ratios(ops, *group) for group in self._groups(ops, log_probs, prev_log_probs)]
        return _mean([ops.astype(ops.abs(ratio - 1.0) > clip_ratio, "float") for ratio in ratios])

    @graph_fn(flatten_ops={"log_probs", "prev_log_probs"})
    def _divergence(self, ops: Any, log_probs: Parts, prev_log_probs: Parts) -> Any:
        return divergence_estimate(ops, *self._joint(ops, list(log_probs), log_probs, prev_log_probs))

    def _groups(self, ops: Any, log_probs: Parts, prev_log_probs: Parts) -> list[tuple[Any, Any]]:
        """New and old log-probabilities of what has one ratio: the action, or each part of it."""
        groups = [[path] for path in log_probs] if self.ratio_of == "part" else [list(log_probs)]
        return [self._joint(ops, paths, log_probs, prev_log_probs) for paths in groups]

    def _joint(self, ops: Any, paths: list[str], *log_probs: Parts) -> tuple[Any, ...]:
        """Log-probabilities of some parts of an action together."""
        return tuple(sum_of_parts(ops, [each[path] for path in paths], self.item_rank) for each in log_probs)

    @graph_fn(flatten_ops={"entropy"})
    def _joint_entropy(self, ops: Any, entropy: Parts) -> Any:
        joint = sum_of_parts(ops, list(entropy.values()), self.item_rank)
        return joint * (1.0 / len(entropy)) if self.ratio_of == "part" else joint

    @graph_fn
    def _value_loss(
        self, ops: Any, state_values: Any, prev_state_values: Any, advantages: Any, progress: Any = None
    ) -> Any:
        targets = prev_state_values + advantages
        if self.value_function_clipping is None:
            return value_loss(ops, state_values, targets)
        limit = self.at(ops, "value_function_clipping", progress)
        return ppo_clipped_value_loss(ops, state_values, prev_state_values, targets, limit)


def _mean(parts: Sequence[Any]) -> Any:
    return sum(parts[1:], start=parts[0]) * (1.0 / len(parts)) if len(parts) > 1 else parts[0]
