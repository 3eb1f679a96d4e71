"""Normalization of values to 0..1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.components.preprocessing.preprocess_layer import (
    PreprocessLayer,
    check_numeric,
    float_bounds,
    scale_of,
)
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.spaces import BoxSpace, FloatBox, Space, SpaceError

#: Keeps a constant input, whose range is 0, at 0.
SMALL = 1e-8


class Normalize(PreprocessLayer):
    """``(x - min(x)) / (max(x) - min(x))``, over all elements of one item; integers become floats first.

    If all elements are equal, the output is zero.

    Args:
        by_bounds: ``(x - low) / (high - low)`` instead, with the bounds of the Space. Numbers do not change
            if a bound is missing, if all are within -1..1, if bounds are more than 65,535 apart, and if they are floats
            that may be negative.

    Raises:
        SpaceError: no axis to take the range over, or text.
    """

    def __init__(self, by_bounds: bool = False, scope: str = "normalize", **kwargs: Any):
        super().__init__(scope=scope, **kwargs)
        self.by_bounds = by_bounds

    def preprocessed_box(self, box: BoxSpace) -> BoxSpace:
        check_numeric(box, self.scope_path)
        if not box.shape and not self.by_bounds:
            raise SpaceError(f"{self.scope_path}: expected a Space with a shape, given {box!r}")
        low, high = (0.0, 1.0) if not self.by_bounds or scale_of(box) else float_bounds(box)
        return FloatBox(low, high, shape=box.shape, **box.ranks.options())

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().create_variables(input_spaces, action_space)
        #: Path of what is scaled by its bounds -> a number if all elements share it, else a variable.
        self.low: dict[str, Any] = {}
        self.range: dict[str, Any] = {}
        for path, box in self.boxes.items() if self.by_bounds else ():
            for name, part in zip(("low", "range"), scale_of(box) or (), strict=False):
                shape = FloatBox(shape=box.shape)
                getattr(self, name)[path] = (
                    float(part.flat[0])
                    if np.ptp(part) == 0.0
                    else self.get_variable(f"{name}/{path}", shape, initializer=part, trainable=False)
                )

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs [B, ...]``, a tensor or a container ``-> [B, ...]``, floats."""
        return self._call(inputs)

    @graph_fn(flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True)
    def _call(self, ops: Any, key: str, inputs: Any) -> Any:
        inputs = ops.astype(inputs, "float")
        if self.by_bounds:
            if key not in self.low:
                return inputs
            low, span = (x if isinstance(x, float) else ops.read(x) for x in (self.low[key], self.range[key]))
            return (inputs - low) / span
        axes = tuple(range(-self.boxes[key].rank, 0))
        low = ops.min(inputs, axis=axes, keepdims=True)
        high = ops.max(inputs, axis=axes, keepdims=True)
        return (inputs - low) / ops.maximum(high - low, SMALL)
