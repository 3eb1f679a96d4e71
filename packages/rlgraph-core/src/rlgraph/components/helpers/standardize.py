"""Standardizes the numbers of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.losses.per_item_checks import check_items
from rlgraph.core import Component, all_reduce, graph_fn, in_group, rlgraph_api
from rlgraph.core.functional.weighting import number_of_items, without_garbage
from rlgraph.spaces import Space


class Standardize(Component):
    """``(x - mean) / (deviation + epsilon)``: the numbers of a batch get mean 0 and deviation 1.

    The deviation is that of the population. In a group of learners the batch is that of all.

    Args:
        epsilon: added to the deviation.

    Raises:
        SpecError: an `epsilon` that is not above 0.
    """

    ranks_may_differ = False

    def __init__(self, epsilon: float = 1e-8, scope: str = "standardize", **kwargs: Any):
        self.epsilon = check_number(epsilon, f"{scope}.epsilon", above=0)
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        check_items({name: input_spaces[name] for name in ("values", "weights") if name in input_spaces})

    @rlgraph_api
    def standardize(self, values: Any, weights: Any = None) -> Any:
        """``[B] -> [B]``, or of sequences ``[T, B]`` or ``[B, T]``.

        Args:
            values: one number per item.
            weights: as `values`; an item of weight 0 does not count, whatever is in it, and becomes 0. How far a weight
                is above 0 does not matter. Default: all items count.
        """
        return self._standardized(values, weights)

    @rlgraph_api(must_be_complete=False)
    def standardize_columns(self, columns: Any = None, column_weights: Any = None) -> Any:
        """``[..., K] -> [..., K]``: as `standardize` of each column, with two sums over learners for all of them."""
        return None if columns is None else self._standardized(columns, column_weights, True)

    def _standardized(self, values: Any, weights: Any, by_column: bool | None = None) -> Any:
        # None instead of False: what is not given is not in the plan.
        if by_column or in_group():
            total, number = all_reduce(self._part(values, weights, by_column))
            number = self._at_least_one(number)
        else:
            total, number = self._sum(values, weights)
        centered, squares = self._centered(values, total, number, weights, by_column)
        return self._scaled(centered, all_reduce(squares), number)

    @graph_fn(returns=2)
    def _sum(self, ops: Any, values: Any, weights: Any = None) -> Any:
        """The sum of the numbers, and how many they are: ``[B], [B] -> [], []``."""
        if weights is None:
            return ops.sum(values), ops.sum(ops.ones_like(values))
        return ops.sum(without_garbage(ops, values, weights)), number_of_items(ops, weights)

    @graph_fn(returns=2)
    def _part(self, ops: Any, values: Any, weights: Any = None, by_column: bool | None = None) -> Any:
        """As `_sum`, of the items of one learner, which may be none; by column ``[..., K], [..., K] -> [K], [K]``."""
        if weights is None:
            return _sum(ops, values, by_column), _sum(ops, ops.ones_like(values), by_column)
        counted = ops.astype(ops.astype(weights, "bool"), "float")
        return _sum(ops, without_garbage(ops, values, weights), by_column), _sum(ops, counted, by_column)

    @graph_fn
    def _at_least_one(self, ops: Any, number: Any) -> Any:
        return ops.maximum(number, 1.0)

    @graph_fn(returns=2)
    def _centered(
        self,
        ops: Any,
        values: Any,
        total: Any,
        number: Any,
        weights: Any = None,
        by_column: bool | None = None,
    ) -> Any:
        """The differences from the mean, and the sum of their squares: ``[B], [], [], [B] -> [B], []``."""
        centered = values - total / number
        if weights is not None:
            centered = without_garbage(ops, centered, weights)
        return centered, _sum(ops, ops.square(centered), by_column)

    @graph_fn
    def _scaled(self, ops: Any, centered: Any, squares: Any, number: Any) -> Any:
        return centered / (ops.sqrt(squares / number) + self.epsilon)


def _sum(ops: Any, values: Any, by_column: bool | None) -> Any:
    """The sum of all numbers, ``[...] -> []``, or of each column, ``[..., K] -> [K]``."""
    if not by_column:
        return ops.sum(values)
    for _ in range(len(values.shape) - 1):
        values = ops.sum(values, axis=0)
    return values
