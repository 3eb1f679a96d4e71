"""Standardization with constants that are set from outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.preprocessing.preprocess_layer import check_numeric
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox, Space


class Normalizer(Component):
    """``(x - mean) * scale``, limited to ``-limit .. limit``, elementwise; at first it only limits.

    Means and scales are variables that nothing here changes: a learner sets them, and they are saved, sent and exported
    like weights. Integers, bools and parts of containers that are not chosen pass unchanged.

    Args:
        parts: paths of the parts of a container that are normalized, all floats; None: all floats.
        limit: the largest size of a result, above 0.
        has_mean: False: there is no mean, only a scale.

    Raises:
        SpecError: `limit` is not above 0.
        SpaceError: text.
    """

    def __init__(
        self,
        parts: tuple[str, ...] | None = None,
        limit: float = 10.0,
        has_mean: bool = True,
        scope: str = "normalizer",
        **kwargs: Any,
    ):
        self.parts, self.has_mean = parts, has_mean
        self.limit = check_number(limit, f"{scope}.limit", above=0)
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().check_input_spaces(input_spaces, action_space)
        for box in input_spaces["inputs"].flatten().values():
            check_numeric(box, self.scope_path)

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        self.mean: dict[str, Any] = {}
        self.scale: dict[str, Any] = {}
        for path in float_parts(input_spaces["inputs"], self.parts):
            box = FloatBox(shape=input_spaces["inputs"].flatten()[path].shape)
            if self.has_mean:
                self.mean[path] = self.get_variable(f"mean/{path}", box, trainable=False)
            self.scale[path] = self.get_variable(f"scale/{path}", box, trainable=False, initializer=1.0)

    @rlgraph_api
    def normalize(self, inputs: Any) -> Any:
        """``inputs [B, ...]``, a tensor or a container ``-> [B, ...]``; with a time rank too."""
        return self._normalize(inputs)

    @graph_fn(flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True)
    def _normalize(self, ops: Any, key: str, inputs: Any) -> Any:
        if key not in self.scale:
            return inputs
        centered = inputs - ops.read(self.mean[key]) if self.has_mean else inputs
        return ops.clip(centered * ops.read(self.scale[key]), -self.limit, self.limit)


def float_parts(space: Space, parts: tuple[str, ...] | None = None) -> list[str]:
    """The paths of the chosen parts of a Space that are floats; None: of all."""
    return [
        path
        for path, box in space.flatten().items()
        if isinstance(box, FloatBox) and (parts is None or path in parts)
    ]
