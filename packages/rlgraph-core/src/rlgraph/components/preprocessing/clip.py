"""Clipping of values."""

from __future__ import annotations

from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer
from rlgraph.core import SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import BoxSpace, FloatBox, IntBox, SpaceError


class Clip(PreprocessLayer):
    """Clips values to ``[min, max]``; the dtype stays.

    Args:
        min, max: the limits, both inclusive.

    Raises:
        SpecError: the limits are not numbers, or `min` is not below `max`.
        SpaceError: bools or text, or integers with fractional limits.
    """

    def __init__(self, min: float = 0.0, max: float = 1.0, scope: str = "clip", **kwargs: Any):
        self.min, self.max = check_number(min, f"{scope}.min"), check_number(max, f"{scope}.max")
        if self.min >= self.max:
            raise SpecError(f"expected min < max, given {min!r} and {max!r}", path=scope)
        super().__init__(scope=scope, **kwargs)

    def preprocessed_box(self, box: BoxSpace) -> BoxSpace:
        options: dict[str, Any] = box.ranks.options()
        if isinstance(box, FloatBox):
            return FloatBox(self.min, self.max, shape=box.shape, dtype=box.dtype, **options)
        if not isinstance(box, IntBox):
            raise SpaceError(f"{self.scope_path}: expected numbers, given {box!r}")
        if not (self.min.is_integer() and self.max.is_integer()):
            raise SpaceError(
                f"{self.scope_path}: expected integer limits, given {self.min} and {self.max} for {box!r}; "
                "put a convert_type with to_dtype 'float' in front"
            )
        return IntBox(int(self.min), int(self.max) + 1, shape=box.shape, dtype=box.dtype, **options)

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs [...]``, a tensor or a container ``-> [...]``."""
        return self._call(inputs)

    @graph_fn(flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True)
    def _call(self, ops: Any, key: str, inputs: Any) -> Any:
        if isinstance(self.boxes[key], IntBox):
            return ops.clip(inputs, int(self.min), int(self.max))
        return ops.clip(inputs, self.min, self.max)
