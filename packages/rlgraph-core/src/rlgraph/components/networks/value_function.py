"""A value function with its own network."""

from __future__ import annotations

from typing import Any, Literal

from rlgraph.components.layers.dense import Dense
from rlgraph.components.networks.layer_chain import features_of
from rlgraph.components.networks.neural_network import NeuralNetwork
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.core.specs.spec_types import InitializerSpec, NetworkSpec
from rlgraph.spaces import Dict


class ValueFunction(Component):
    """A network followed by a linear layer: one value per state.

    Args:
        network_spec: the network (instance, list of layer specs, or spec).
        weights_spec: initializer of the weights of the last layer.
        biases_spec: initializer of its biases; False for none.
        activation: its activation, None for none.
        scope: name among its siblings.
    """

    def __init__(
        self,
        network_spec: NetworkSpec,
        weights_spec: InitializerSpec = "glorot_uniform",
        biases_spec: InitializerSpec | Literal[False] = 0.0,
        activation: str | None = None,
        scope: str = "value-function",
        **kwargs: Any,
    ):
        self.network = NeuralNetwork.from_spec(network_spec, path=f"{scope}.network_spec")
        self.value_layer = Dense(1, activation, weights_spec, biases_spec, scope="value-layer")
        super().__init__(self.network, self.value_layer, scope=scope, **kwargs)

    @property
    def internal_states_space(self) -> Dict | None:
        """The Space of the internal states of the network; None if it has none."""
        return self.network.internal_states_space

    @rlgraph_api
    def value_output(
        self, nn_inputs: Any, internal_states: Any = None, sequence_length: Any = None, resets: Any = None
    ) -> Any:
        """States ``[B, ...] -> [B]``, sequences ``[B, T, ...] -> [B, T]``; arguments as of `get_state_values`."""
        return self._outputs(nn_inputs, internal_states, sequence_length, resets)["state_values"]

    @rlgraph_api
    def get_state_values(
        self, nn_inputs: Any, internal_states: Any = None, sequence_length: Any = None, resets: Any = None
    ) -> Any:
        """``{"state_values": [B], "nn_outputs"}``; of a recurrent network ``"internal_states"`` after the last step.

        Args:
            nn_inputs: states ``[B, ...]``, or sequences of them.
            internal_states: of the recurrent layers before the first step; default: zeros.
            sequence_length: int [B], number of valid steps of each sequence; default: all.
            resets: bool, one per step, where an episode begins; default: nowhere.
        """
        return self._outputs(nn_inputs, internal_states, sequence_length, resets)

    def _outputs(self, nn_inputs: Any, *recurrence: Any) -> dict[str, Any]:
        features = features_of(self.network, nn_inputs, *recurrence)
        return {"state_values": self._value(self.value_layer.call(features["nn_outputs"])), **features}

    @graph_fn
    def _value(self, ops: Any, values: Any) -> Any:
        """``[B, 1] -> [B]``."""
        return ops.squeeze(values, axis=-1)
