"""Items of a batch and their weights.

An item of weight 0 does not count, whatever is in it, even NaN: padding, or a row that is no step. A weight above 0
scales the loss of its item: importance. Weights may be bool.
"""

from __future__ import annotations

from typing import Any

Tensor = Any


def without_garbage(ops: Any, values: Tensor, weights: Tensor) -> Tensor:
    """0 in place of the items of weight 0: ``values [..., ...], weights [...] -> [..., ...]``.

    No derivative flows into these items.
    """
    mask = ops.astype(weights, "bool")
    for _ in range(len(values.shape) - len(weights.shape)):
        mask = ops.expand_dims(mask, -1)
    return ops.where(mask, values, ops.zeros_like(values))


def number_of_items(ops: Any, weights: Tensor) -> Tensor:
    """How many items have a weight other than 0, at least 1: ``weights [...] -> []``, a float."""
    return ops.maximum(part_of_number(ops, weights, weights), 1.0)


def weighted_sum(ops: Any, losses: Tensor, weights: Tensor | None = None) -> Tensor:
    """``sum_i w_i L_i``, which `weighted_mean` divides: ``losses [...], weights [...] -> []``."""
    if weights is None:
        return ops.sum(losses)
    return ops.sum(ops.astype(weights, "float") * without_garbage(ops, losses, weights))


def part_of_number(ops: Any, losses: Tensor, weights: Tensor | None = None) -> Tensor:
    """By what `weighted_mean` divides, of a part of a batch, maybe 0: ``losses [...], weights [...] -> []``."""
    if weights is None:
        return ops.sum(ops.ones_like(losses))
    return ops.sum(ops.astype(ops.astype(weights, "bool"), "float"))


def weighted_mean(ops: Any, losses: Tensor, weights: Tensor | None = None) -> Tensor:
    """``sum_i w_i L_i / n``, n the number of weights above 0: ``losses [...], weights [...] -> []``; 0 without items.

    With weights of 0 and 1 it is the mean of the items that count. With the importance weights of prioritized replay, n
    is the size of the batch: Schaul et al. (2016), Algorithm 1, line 13, https://arxiv.org/abs/1511.05952. A weight
    multiplies the gradient of an item's loss, not the error that the loss is made of.
    """
    if weights is None:
        return ops.mean(losses)
    return weighted_sum(ops, losses, weights) / number_of_items(ops, weights)
