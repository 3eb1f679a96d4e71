"""Scales rewards by the running deviation of their discounted sums."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.common.running_moments import deviation_of, merge_rows, moment_variables
from rlgraph.components.helpers.trajectory_checks import check_same_ranks, check_steps
from rlgraph.core import Component, InputError, graph_fn, rlgraph_api
from rlgraph.core.functional.weighting import without_garbage
from rlgraph.spaces import FloatBox, Space, SpaceError

#: Columns of a rollout at most: each has a discounted sum that continues in the next rollout.
MAX_COLUMNS = 4096


class ReturnScaling(Component):
    """Divides rewards by the standard deviation of the discounted sums of all rewards so far.

    Burda et al. (2018), section 2.4, https://arxiv.org/abs/1810.12894. The sum of a column, ``R_t = discount R_(t-1) +
    r_t``, spans episodes and rollouts. The rewards of a rollout are counted before they are scaled. Sums and moments
    are on the host, in double precision.

    Args:
        discount: discount factor of the sums, in [0, 1].
        epsilon: added to the variance, at least 0; 1e-8 up to version 0.2.

    Raises:
        SpecError: `discount` is outside [0, 1].
        SpaceError: an argument is not one number per step.
        InputError: a rollout of more than 4096 columns.
    """

    ranks_may_differ = False

    def __init__(
        self, discount: float = 0.99, epsilon: float = 0.0, scope: str = "return-scaling", **kwargs: Any
    ):
        self.epsilon = check_number(epsilon, f"{scope}.epsilon", least=0)
        self.discount = check_number(discount, f"{scope}.discount", least=0, most=1)
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        check_steps(input_spaces, "rewards", kind=FloatBox)
        check_same_ranks(input_spaces, "rewards", "weights")
        if not input_spaces["rewards"].has_time_rank:
            raise SpaceError(f"rewards: expected steps [T, B], given {input_spaces['rewards']!r}")

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        self.count, self.mean, self.variance = moment_variables(self, {"": ()})
        self.sums: Any = self.get_variable("sums", FloatBox(shape=(MAX_COLUMNS,), dtype="float64"), host=True)

    @rlgraph_api
    def scale(self, rewards: Any, weights: Any) -> Any:
        """``[T, B] -> [T, B]``.

        Args:
            rewards: of the steps of a rollout.
            weights: as `rewards`; a step of weight 0 does not count, whatever its reward, which becomes 0.
        """
        return self._divided(rewards, weights, self._deviation(rewards, weights))

    @graph_fn(host=True, spaces=lambda *_: FloatBox())
    def _deviation(self, rewards: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Count the rewards of a rollout; the deviation of the sums so far, []."""
        columns = rewards.shape[1]
        if columns > MAX_COLUMNS:
            raise InputError(f"{self.scope_path}: expected at most {MAX_COLUMNS} columns, given {columns}")
        valid, sums = weights.astype(bool), self.sums[:columns]
        seen = np.empty(rewards.shape, sums.dtype)
        for step, row in enumerate(rewards):
            sums[:] = np.where(valid[step], self.discount * sums + row, sums)
            seen[step] = sums
        merge_rows(self.count[""], self.mean[""], self.variance[""], seen[valid])
        return deviation_of(self.mean[""], self.variance[""], self.epsilon)

    @graph_fn
    def _divided(self, ops: Any, rewards: Any, weights: Any, deviation: Any) -> Any:
        return without_garbage(ops, rewards / deviation, weights)
