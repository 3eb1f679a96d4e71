"""Residual connections around layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.argument_checks import MAX_PARTS, check_whole
from rlgraph.components.layers.activations import apply_activation, check_activation
from rlgraph.components.networks.layer_chain import LayerChain, check_state_keys, run_layers
from rlgraph.components.networks.neural_network import NeuralNetwork
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.core.specs.spec_types import ActivationSpec, ComponentSpec
from rlgraph.spaces import Space
from rlgraph.spaces.errors import mismatch


class Residual(LayerChain):
    """``activation(inputs + units(inputs))`` of the same shape (He et al., 2016, https://arxiv.org/abs/1512.03385).

    Args:
        residual_unit: a layer or network, its spec, or a list of layer specs; its output has the shape of its input.
        repeats: number of such units in sequence, each with its own variables, before the input is added.
        activation: name of an activation, or a function ``f(ops, x)`` after the sum; None for none.

    Raises:
        SpecError: an invalid spec of the unit, `repeats` below 1, or an unknown activation.
        SpaceError: the units change the shape.
    """

    def __init__(
        self,
        residual_unit: ComponentSpec,
        repeats: int = 2,
        activation: ActivationSpec = None,
        scope: str = "residual",
        **kwargs: Any,
    ):
        self.repeats = check_whole(repeats, f"{scope}.repeats", least=1, most=MAX_PARTS)
        self.layers = [_unit(residual_unit, i, f"{scope}.residual_unit") for i in range(self.repeats)]
        check_state_keys(self.layers, f"{scope}.residual_unit")
        self.sum = ResidualSum(check_activation(activation, f"{scope}.activation"))
        super().__init__(*self.layers, self.sum, scope=scope, **kwargs)

    def wire(
        self,
        inputs: Any,
        internal_states: Any,
        sequence_length: Any,
        resets: Any,
        training: Any,
        every_step: Any,
    ) -> tuple[Any, dict[str, Any]]:
        residuals, states = run_layers(
            self.layers, inputs, internal_states, sequence_length, resets, training, every_step
        )
        return self.sum.call(inputs, residuals), states


class ResidualSum(Component):
    """``activation(inputs + residuals)`` of equal shapes."""

    def __init__(self, activation: ActivationSpec, scope: str = "sum", **kwargs: Any):
        self.activation = activation
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        inputs, residuals = input_spaces["inputs"], input_spaces["residuals"]
        if inputs.get_shape() != residuals.get_shape():
            raise mismatch(
                "residual_unit", f"an output of the shape {inputs.get_shape()} of its input", repr(residuals)
            )

    @rlgraph_api
    def call(self, inputs: Any, residuals: Any) -> Any:
        """``[B, ...], [B, ...] -> [B, ...]``."""
        return self._call(inputs, residuals)

    @graph_fn
    def _call(self, ops: Any, inputs: Any, residuals: Any) -> Any:
        return apply_activation(ops, self.activation, inputs + residuals)


def _unit(spec: Any, position: int, path: str) -> Component:
    """The unit at a position: built from a spec, or a copy of a component."""
    if isinstance(spec, Component):
        return spec if position == 0 else spec.copy(scope=f"{spec.scope}-{position}")
    kind = NeuralNetwork if isinstance(spec, list | tuple) else Component
    return kind.from_spec(spec, path=path, scope=f"unit-{position}")
