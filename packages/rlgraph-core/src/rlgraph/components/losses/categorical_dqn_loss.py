"""The loss of C51."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.losses.distributional_loss import DistributionalLoss
from rlgraph.core import SpecError
from rlgraph.core.functional.distributional import (
    categorical_means,
    categorical_projection,
    distributional_targets,
)
from rlgraph.core.functional.supervised import divergence, soft_cross_entropy


class CategoricalDQNLoss(DistributionalLoss):
    """The cross-entropy of distributions of returns on fixed atoms, C51 (Bellemare et al., 2017, Algorithm 1).

    https://arxiv.org/abs/1707.06887. Action values are logits ``[B, A, N]`` of N atoms, evenly spaced from `low` to
    `high`. `get_td_errors` are divergences of prediction and target, as in Rainbow's priorities (Hessel et al., 2018,
    https://arxiv.org/abs/1710.02298).

    Args:
        low, high: the smallest and the largest atom; returns beyond are clipped.
        discount: discount factor in [0, 1].
        double_q: choose the next action with the online network, as in Rainbow.

    Raises:
        SpecError: a discount outside [0, 1], or `high` is not above `low`.
    """

    fewest_numbers = 2

    def __init__(
        self,
        low: float = -10.0,
        high: float = 10.0,
        discount: float = 0.99,
        double_q: bool = False,
        scope: str = "categorical-dqn-loss",
        **kwargs: Any,
    ):
        self.low, self.high = check_number(low, f"{scope}.low"), check_number(high, f"{scope}.high")
        if not self.low < self.high:
            raise SpecError(f"expected a number above low, {low!r}, given {high!r}", path=f"{scope}.high")
        super().__init__(discount, double_q, scope=scope, **kwargs)

    def means(self, ops: Any, values: Any) -> Any:
        return categorical_means(ops, ops.softmax(values, axis=-1), self.low, self.high)

    def targets(self, ops: Any, following: Any, rewards: Any, terminals: Any, discount: Any) -> Any:
        atoms = following.shape[-1]
        support = ops.linspace(self.low, self.high, atoms)
        positions = distributional_targets(ops, rewards, terminals, support, discount)
        probabilities = ops.softmax(following, axis=-1)
        projected = categorical_projection(ops, positions, probabilities, self.low, self.high, atoms)
        return ops.stop_gradient(projected)

    def penalties(self, ops: Any, taken: Any, targets: Any) -> Any:
        return soft_cross_entropy(ops, taken, targets)

    def errors(self, ops: Any, taken: Any, targets: Any) -> Any:
        return divergence(ops, taken, targets)
