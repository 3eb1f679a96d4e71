"""Layers that work on rows ``[N, K]`` or images ``[N, H, W, C]``, applied to tensors with more leading axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def over_rows(ops: Any, inputs: Any, function: Callable[[Any], Any]) -> Any:
    """`function`, ``[N, K] -> [N, M]``, of all rows at once: ``inputs [..., K] -> [..., M]``."""
    return _over(ops, inputs, 1, function)


def over_images(ops: Any, inputs: Any, function: Callable[[Any], Any]) -> Any:
    """`function`, ``[N, H, W, C] -> [N, H', W', M]``, of all images at once: ``inputs [..., H, W, C]``."""
    return _over(ops, inputs, 3, function)


def _over(ops: Any, inputs: Any, rank: int, function: Callable[[Any], Any]) -> Any:
    if len(inputs.shape) == 1 + rank:
        return function(inputs)
    outputs = function(ops.reshape(inputs, (-1, *inputs.shape[-rank:])))
    return ops.reshape(outputs, (*ops.shape(inputs)[:-rank], *outputs.shape[1:]))
