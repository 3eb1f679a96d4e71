"""Division by a number."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer, scaled_box
from rlgraph.core import SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import BoxSpace


class Divide(PreprocessLayer):
    """``inputs / divisor``; integers become floats first.

    Args:
        divisor: the number.

    Raises:
        SpecError: divisor is not a finite number other than 0.
    """

    def __init__(self, divisor: float, scope: str = "divide", **kwargs: Any):
        self.divisor = check_number(divisor, f"{scope}.divisor")
        if self.divisor == 0.0:
            raise SpecError(f"expected a number other than 0, given {divisor!r}", path=f"{scope}.divisor")
        super().__init__(scope=scope, **kwargs)

    def preprocessed_box(self, box: BoxSpace) -> BoxSpace:
        return scaled_box(box, 1.0 / self.divisor, self.scope_path)

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs [...]``, a tensor or a container ``-> [...]``, floats."""
        return self._call(inputs)

    @graph_fn(flatten_ops=True, split_ops=True)
    def _call(self, ops: Any, inputs: Any) -> Any:
        return ops.astype(inputs, "float") / self.divisor
