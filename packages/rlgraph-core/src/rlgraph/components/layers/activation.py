"""Activations as layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.layers.activations import apply_activation, check_activation
from rlgraph.components.layers.input_checks import check_inputs
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.core.specs.spec_types import ActivationSpec
from rlgraph.spaces import Space


class Activation(Component):
    """An activation as a separate layer: ``inputs [B, ...] -> [B, ...]``; a time rank stays.

    Args:
        activation: its name, or a function ``f(ops, x)``; ``softmax`` works along the last axis, ``crelu`` doubles it.

    Raises:
        SpecError: unknown activation.
        SpaceError: the input is not a batch of floats with at least one axis.
    """

    def __init__(self, activation: ActivationSpec = None, scope: str = "activation", **kwargs: Any):
        self.activation = check_activation(activation, f"{scope}.activation")
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        check_inputs(input_spaces["inputs"], rank=None)

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs [B, ...] -> [B, ...]``."""
        return self._call(inputs)

    @graph_fn
    def _call(self, ops: Any, inputs: Any) -> Any:
        return apply_activation(ops, self.activation, inputs)
