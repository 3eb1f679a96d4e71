"""Multiplication by a number."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer, scaled_box
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.spaces import BoxSpace


class Multiply(PreprocessLayer):
    """``inputs * factor``; integers become floats first.

    Args:
        factor: the number.

    Raises:
        SpecError: factor is not a finite number.
    """

    def __init__(self, factor: float, scope: str = "multiply", **kwargs: Any):
        self.factor = check_number(factor, f"{scope}.factor")
        super().__init__(scope=scope, **kwargs)

    def preprocessed_box(self, box: BoxSpace) -> BoxSpace:
        return scaled_box(box, self.factor, self.scope_path)

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs [...]``, a tensor or a container ``-> [...]``, floats."""
        return self._call(inputs)

    @graph_fn(flatten_ops=True, split_ops=True)
    def _call(self, ops: Any, inputs: Any) -> Any:
        return ops.astype(inputs, "float") * self.factor
