"""A value function with its own network."""

from __future__ import annotations

from typing import Any, Literal

from rlgraph.components.common.state_values import StateValues
from rlgraph.components.layers.dense import Dense
from rlgraph.components.networks.neural_network import NeuralNetwork
from rlgraph.core import rlgraph_api
from rlgraph.core.specs.spec_types import ActivationSpec, InitializerSpec, NetworkSpec


class ValueFunction(StateValues):
    """A network followed by a linear layer: one value per state.

    Its API methods take `observations`: states, or a bundle of them and more (see `Observations`).

    Args:
        network_spec: the network (instance, list of layer specs, or spec).
        weights_spec: initializer of the weights of the last layer.
        biases_spec: initializer of its biases; False for none.
        activation: its activation, None for none.
    """

    def __init__(
        self,
        network_spec: NetworkSpec,
        weights_spec: InitializerSpec = "glorot_uniform",
        biases_spec: InitializerSpec | Literal[False] = 0.0,
        activation: ActivationSpec = None,
        scope: str = "value-function",
        **kwargs: Any,
    ):
        self.network = NeuralNetwork.from_spec(network_spec, path=f"{scope}.network_spec")
        self.value_layer = Dense(1, activation, weights_spec, biases_spec, scope="value-layer")
        super().__init__(self.network, self.value_layer, scope=scope, **kwargs)

    @rlgraph_api
    def value_output(self, observations: Any) -> Any:
        """``"state_values"`` of `get_state_values` alone."""
        return self._valued(self.features_of(observations))["state_values"]
