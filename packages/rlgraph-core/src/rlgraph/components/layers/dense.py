"""A fully connected layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from rlgraph.components.common.argument_checks import check_whole
from rlgraph.components.layers.activations import apply_activation, check_activation
from rlgraph.components.layers.input_checks import check_inputs
from rlgraph.components.layers.leading_axes import over_rows
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.core.specs.spec_types import ActivationSpec, InitializerSpec
from rlgraph.spaces import FloatBox, Space


class Dense(Component):
    """``activation(inputs @ weights + biases)``: ``inputs [B, N] -> [B, units]``.

    A time rank stays: ``[B, T, N] -> [B, T, units]``, ``[T, B, N] -> [T, B, units]``.

    Args:
        units: size of the output.
        activation: name of an activation, or a function ``f(ops, x)``; None for none.
        weights_spec: initializer of the weights [N, units].
        biases_spec: initializer of the biases [units]; False for a layer without.

    Raises:
        SpecError: units below 1, or an unknown activation.
        SpaceError: the input is not a batch of floats of rank 1.
    """

    def __init__(
        self,
        units: int,
        activation: ActivationSpec = None,
        weights_spec: InitializerSpec = "glorot_uniform",
        biases_spec: InitializerSpec | Literal[False] = 0.0,
        scope: str = "dense",
        **kwargs: Any,
    ):
        self.units = check_whole(units, f"{scope}.units", least=1)
        self.activation = check_activation(activation, f"{scope}.activation")
        self.weights_spec = weights_spec
        self.biases_spec = biases_spec
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        check_inputs(input_spaces["inputs"], rank=1)

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        size = input_spaces["inputs"].shape[0]
        self.weights = self.get_variable(
            "weights", FloatBox(shape=(size, self.units)), initializer=self.weights_spec
        )
        self.biases = None
        if self.biases_spec is not False:
            self.biases = self.get_variable(
                "biases", FloatBox(shape=(self.units,)), initializer=self.biases_spec
            )

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """``inputs [B, N] -> [B, units]``; or with a time rank, which stays."""
        return self._call(inputs)

    @graph_fn
    def _call(self, ops: Any, inputs: Any) -> Any:
        return over_rows(
            ops,
            inputs,
            lambda rows: apply_activation(ops, self.activation, ops.linear(rows, self.weights, self.biases)),
        )
