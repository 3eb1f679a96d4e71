"""The base class of policy gradient losses."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from rlgraph.components.common.named_values import Parts
from rlgraph.components.common.schedules import Constant
from rlgraph.components.losses.loss_function import LossFunction, read_schedule
from rlgraph.core import AssemblyError, graph_fn, rlgraph_api
from rlgraph.core.functional.policy_gradient import entropy_loss, policy_gradient_loss, sum_of_parts
from rlgraph.core.specs.spec_types import ScheduleSpec


class PolicyGradientLoss(LossFunction):
    """A weighted sum of the losses of policy and value function and an entropy bonus.

    Items are ``[B]``, or the steps of sequences, ``[T, B]`` or ``[B, T]``.

    Args:
        weight_pg, weight_vf, weight_entropy: numbers or schedules.
        average_time_steps: as in `LossFunction`.

    Raises:
        SpecError: a weight below 0.
    """

    measures: ClassVar[tuple[str, ...]] = ("entropy",)
    takes_sequences = True

    def __init__(
        self,
        weight_pg: ScheduleSpec,
        weight_vf: ScheduleSpec,
        weight_entropy: ScheduleSpec,
        average_time_steps: bool,
        scope: str,
        **kwargs: Any,
    ):
        self.weight_pg = read_schedule(weight_pg, f"{scope}.weight_pg")
        self.weight_vf = read_schedule(weight_vf, f"{scope}.weight_vf")
        self.weight_entropy = read_schedule(weight_entropy, f"{scope}.weight_entropy")
        self.average_time_steps = average_time_steps
        super().__init__(scope=scope, **kwargs)

    def with_total(self, policy_loss: Any, value_loss: Any, entropy: Any, progress: Any) -> dict[str, Any]:
        """The named numbers per item: the weighted sum ``loss`` and its parts; for use in API methods.

        Args:
            policy_loss, value_loss: per item.
            entropy: of each part of the action, ``[..., ...]``; None if it is not known.
            progress: for the weights.

        Raises:
            AssemblyError: the entropy is missing and its weight is not 0.
        """
        has_bonus = self.weight_entropy != Constant(0.0)
        if entropy is None and has_bonus:
            raise AssemblyError(
                f"{self.scope_path}: weight_entropy is not 0: pass the argument entropy, or set weight_entropy to 0"
            )
        measured = {} if entropy is None else {"entropy": self._joint_entropy(entropy)}
        bonus = measured["entropy"] if has_bonus else None
        total = self._total(policy_loss, value_loss, bonus, progress)
        return {"loss": total, "policy_loss": policy_loss, "value_loss": value_loss, **measured}

    @rlgraph_api(must_be_complete=False)
    def get_explained_variance(self, values: Any = None, targets: Any = None, weights: Any = None) -> Any:
        """``1 - var(targets - values) / var(targets)`` [], over the batches of all learners; call it after the step.

        Args:
            values, targets: of the value function, per item.
            weights: of the items; those of weight 0 do not count.

        Returns:
            1 for perfect values, 0 for a constant; also 0 where the targets are all equal.
        """
        if values is None:
            return None
        mean = partial(self.mean_of, weights=weights, measured=True)
        errors = self._difference(targets, values)
        return self._explained(*(mean(self._squared_deviation(x, mean(x))) for x in (errors, targets)))

    @graph_fn
    def _difference(self, ops: Any, targets: Any, values: Any) -> Any:
        return targets - values

    @graph_fn
    def _squared_deviation(self, ops: Any, x: Any, mean: Any) -> Any:
        return ops.square(x - mean)

    @graph_fn
    def _explained(self, ops: Any, of_errors: Any, of_targets: Any) -> Any:
        varies = of_targets > 0.0
        # At least 1 - 1e6: an infinite number would end the run.
        divisor = ops.where(varies, ops.maximum(of_targets, 1e-6 * of_errors), 1.0)
        return ops.where(varies, 1.0 - of_errors / divisor, 0.0)

    @graph_fn(flatten_ops={"log_probs"})
    def _policy_loss(self, ops: Any, log_probs: Parts, advantages: Any) -> Any:
        """``-A log pi(a|s)``, per item."""
        joint = sum_of_parts(ops, list(log_probs.values()), self.item_rank)
        return policy_gradient_loss(ops, joint, advantages)

    @graph_fn(flatten_ops={"entropy"})
    def _joint_entropy(self, ops: Any, entropy: Parts) -> Any:
        """The entropy of an action, per item."""
        return sum_of_parts(ops, list(entropy.values()), self.item_rank)

    @graph_fn
    def _total(
        self, ops: Any, policy_loss: Any, value_loss: Any, entropy: Any = None, progress: Any = None
    ) -> Any:
        """All per item."""
        total = self.at(ops, "weight_pg", progress) * policy_loss
        total = total + self.at(ops, "weight_vf", progress) * value_loss
        if entropy is None:
            return total
        return total + entropy_loss(ops, entropy, self.at(ops, "weight_entropy", progress))
