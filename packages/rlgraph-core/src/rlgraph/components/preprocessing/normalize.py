"""Normalization of values to 0..1."""

from __future__ import annotations

from typing import Any

from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer, check_numeric
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.spaces import BoxSpace, FloatBox, SpaceError

#: Keeps a constant input, whose range is 0, at 0.
SMALL = 1e-8


class Normalize(PreprocessLayer):
    """``(x - min(x)) / (max(x) - min(x))``, over all elements of one item; integers become floats first.

    If all elements are equal, the output is zero.

    Args:
        scope: name among its siblings.

    Raises:
        SpaceError: no axis to take the range over, or text.
    """

    def __init__(self, scope: str = "normalize", **kwargs: Any):
        super().__init__(scope=scope, **kwargs)

    def preprocessed_box(self, box: BoxSpace) -> BoxSpace:
        check_numeric(box, self.scope_path)
        if not box.shape:
            raise SpaceError(f"{self.scope_path}: expected a Space with a shape, given {box!r}")
        return FloatBox(0.0, 1.0, shape=box.shape, **box.ranks.options())

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs [B, ...]``, a tensor or a container ``-> [B, ...]``, floats."""
        return self._call(inputs)

    @graph_fn(flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True)
    def _call(self, ops: Any, key: str, inputs: Any) -> Any:
        inputs = ops.astype(inputs, "float")
        axes = tuple(range(-self.boxes[key].rank, 0))
        low = ops.min(inputs, axis=axes, keepdims=True)
        high = ops.max(inputs, axis=axes, keepdims=True)
        return (inputs - low) / ops.maximum(high - low, SMALL)
