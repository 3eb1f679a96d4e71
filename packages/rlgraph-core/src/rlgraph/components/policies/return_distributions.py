"""Distributions of returns, whose numbers a Q-policy computes for each action in place of its value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from rlgraph.components.common.argument_checks import check_number, check_whole
from rlgraph.core import SpecError
from rlgraph.core.functional.distributional import categorical_means, quantile_means


class ReturnDistribution(ABC):
    """A family of distributions of the return of an action.

    Attributes:
        size: how many numbers describe one.
    """

    size: int

    @abstractmethod
    def means(self, ops: Any, numbers: Any) -> Any:
        """Expected returns: ``[..., N] -> [...]``."""


@dataclass(frozen=True)
class CategoricalReturns(ReturnDistribution):
    """Logits of evenly spaced returns, from `low` to `high` (Bellemare et al., 2017, https://arxiv.org/abs/1707.06887).

    Raises:
        SpecError: fewer than two, or `high` is not above `low`.
    """

    size: int = 51
    low: float = -10.0
    high: float = 10.0

    def __post_init__(self) -> None:
        check_whole(self.size, "num_atoms", least=2)
        low, high = check_number(self.low, "low"), check_number(self.high, "high")
        if not low < high:
            raise SpecError(f"expected a number above low, {low:g}, given {high:g}", path="high")

    def means(self, ops: Any, numbers: Any) -> Any:
        return categorical_means(ops, ops.softmax(numbers, axis=-1), self.low, self.high)


@dataclass(frozen=True)
class QuantileReturns(ReturnDistribution):
    """Equally likely returns, in any order (Dabney et al., 2018, https://arxiv.org/abs/1710.10044).

    Raises:
        SpecError: there are none.
    """

    size: int = 200

    def __post_init__(self) -> None:
        check_whole(self.size, "num_quantiles", least=1)

    def means(self, ops: Any, numbers: Any) -> Any:
        return quantile_means(ops, numbers)
