"""Layers that work on rows ``[N, K]``, applied to tensors with more leading axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def over_rows(ops: Any, inputs: Any, function: Callable[[Any], Any]) -> Any:
    """`function`, ``[N, K] -> [N, M]``, of all rows at once: ``inputs [..., K] -> [..., M]``."""
    if len(inputs.shape) == 2:
        return function(inputs)
    outputs = function(ops.reshape(inputs, (-1, inputs.shape[-1])))
    return ops.reshape(outputs, (*ops.shape(inputs)[:-1], outputs.shape[-1]))
