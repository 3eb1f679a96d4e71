"""The base class of policy gradient losses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.schedules import Constant
from rlgraph.components.losses.loss_function import LossFunction, read_schedule
from rlgraph.core import AssemblyError
from rlgraph.core.functional.policy_gradient import entropy_loss, sum_of_parts
from rlgraph.core.specs.spec_types import ScheduleSpec


class PolicyGradientLoss(LossFunction):
    """A loss with an entropy bonus, of items ``[B]``, or of sequences ``[T, B]`` or ``[B, T]``.

    Args:
        weight_entropy: weight of the entropy bonus; a number or a schedule.
        average_time_steps: the loss of a sequence is the mean of its steps; False: their sum.
        scope: name among its siblings.

    Raises:
        SpecError: a weight below 0.
    """

    def __init__(self, weight_entropy: ScheduleSpec, average_time_steps: bool, scope: str, **kwargs: Any):
        self.weight_entropy = read_schedule(weight_entropy, f"{scope}.weight_entropy")
        self.average_time_steps = average_time_steps
        super().__init__(scope=scope, **kwargs)

    def entropy_part(
        self,
        ops: Any,
        entropy: Mapping[str, Any] | None,
        rank: int,
        time_percentage: Any,
        sequence_length: Any = None,
    ) -> Any:
        """The entropy term of a loss, ``[...]`` of `rank` axes; 0.0 if its weight is 0.

        Args:
            ops: the operations.
            entropy: of each part of the action, ``[..., ...]``.
            rank: the number of axes of the items.
            time_percentage: for the weight.
            sequence_length: number of valid steps of each sequence [B]; None: all.

        Raises:
            AssemblyError: the entropy is missing and its weight is not 0.
        """
        if self.weight_entropy == Constant(0.0):
            return 0.0
        if entropy is None:
            raise AssemblyError(
                f"{self.scope_path}: weight_entropy is not 0: pass the argument entropy, or set weight_entropy to 0"
            )
        weight = self.at(ops, "weight_entropy", time_percentage)
        joint = self.without_padding(ops, sum_of_parts(ops, list(entropy.values()), rank), sequence_length)
        return entropy_loss(ops, joint, weight)
