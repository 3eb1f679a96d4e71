"""Layer normalisation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from rlgraph.components.common.argument_checks import check_number
from rlgraph.components.layers.input_checks import check_inputs
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.core.specs.spec_types import InitializerSpec
from rlgraph.spaces import FloatBox, Space


class LayerNorm(Component):
    """``(inputs - mean) / sqrt(var + epsilon) * scale + offset``: ``inputs [B, ..., N] -> [B, ..., N]``.

    Mean and variance (divided by N) are those of the last axis of each item; a time rank stays. Ba et al. (2016),
    https://arxiv.org/abs/1607.06450.

    Args:
        epsilon: added to the variance.
        scale_spec: initializer of the scale [N]; False for a layer without.
        offset_spec: initializer of the offset [N]; False for a layer without.

    Raises:
        SpecError: epsilon is not a positive number.
        SpaceError: the input is not a batch of floats with at least one axis.
    """

    def __init__(
        self,
        epsilon: float = 1e-5,
        scale_spec: InitializerSpec | Literal[False] = 1.0,
        offset_spec: InitializerSpec | Literal[False] = 0.0,
        scope: str = "layer-norm",
        **kwargs: Any,
    ):
        self.epsilon = check_number(epsilon, f"{scope}.epsilon", above=0)
        self.scale_spec, self.offset_spec = scale_spec, offset_spec
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        check_inputs(input_spaces["inputs"], rank=None)

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        space = FloatBox(shape=input_spaces["inputs"].shape[-1:])
        specs = {"scale": self.scale_spec, "offset": self.offset_spec}
        self.scale, self.offset = (
            None if spec is False else self.get_variable(name, space, initializer=spec)
            for name, spec in specs.items()
        )

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs [B, ..., N] -> [B, ..., N]``."""
        return self._call(inputs)

    @graph_fn
    def _call(self, ops: Any, inputs: Any) -> Any:
        return ops.layer_norm(inputs, self.scale, self.offset, self.epsilon)
