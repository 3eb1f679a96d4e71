"""Clipping of values to a range symmetric around 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox, Space, SpaceError


class Clipping(Component):
    """Clips values, for example rewards, to ``[-clip_value, clip_value]``.

    Args:
        clip_value: the limit; 0 for none.

    Raises:
        SpecError: `clip_value` is not a number >= 0.
        SpaceError: the inputs are not floats.
    """

    def __init__(self, clip_value: float = 0.0, scope: str = "clipping", **kwargs: Any):
        self.clip_value = check_number(clip_value, f"{scope}.clip_value", least=0)
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        for path, box in input_spaces["values"].flatten().items():
            if self.clip_value and not isinstance(box, FloatBox):
                raise SpaceError(
                    f"values{'/' + path if path else ''}: expected a FloatBox, given {box!r}; "
                    'put in front: {"type": "convert_type", "to_dtype": "float"}'
                )

    @rlgraph_api
    def clip_if_needed(self, values: Any) -> Any:
        """``values [...]``, a tensor or a container ``-> [...]``."""
        return self._clip(values) if self.clip_value else values

    @graph_fn(flatten_ops=True, split_ops=True)
    def _clip(self, ops: Any, values: Any) -> Any:
        return ops.clip(values, -self.clip_value, self.clip_value)
