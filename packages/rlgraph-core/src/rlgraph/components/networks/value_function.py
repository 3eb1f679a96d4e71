"""A value function with a network of its own."""

from __future__ import annotations

from typing import Any

from rlgraph.components.layers.dense import Dense
from rlgraph.components.networks.neural_network import NeuralNetwork
from rlgraph.core import Component, graph_fn, rlgraph_api


class ValueFunction(Component):
    """A network with a linear layer behind it: one value per state.

    Args:
        network_spec: the network (instance, list of layer specs, or spec).
        weights_spec: initializer of the weights of the last layer.
        biases_spec: initializer of its biases; False for none.
        activation: its activation, None for none.
        scope: name among its siblings.
    """

    def __init__(
        self,
        network_spec: Any,
        weights_spec: Any = "glorot_uniform",
        biases_spec: Any = 0.0,
        activation: str | None = None,
        scope: str = "value-function",
        **kwargs: Any,
    ):
        self.network = NeuralNetwork.from_spec(network_spec, path=f"{scope}.network_spec")
        self.value_layer = Dense(1, activation, weights_spec, biases_spec, scope="value-layer")
        super().__init__(self.network, self.value_layer, scope=scope, **kwargs)

    @rlgraph_api
    def value_output(self, nn_inputs: Any) -> Any:
        """States ``[B, ...] -> [B]``."""
        return self._value(self.value_layer.call(self.network.call(nn_inputs)))

    @graph_fn
    def _value(self, ops: Any, values: Any) -> Any:
        """``[B, 1] -> [B]``."""
        return ops.squeeze(values, axis=-1)
