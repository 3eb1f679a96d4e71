"""A policy that shares its network with a value function."""

from __future__ import annotations

from typing import Any, Literal

from rlgraph.components.common.state_values import StateValues
from rlgraph.components.layers.dense import Dense
from rlgraph.components.policies.policy import Policy
from rlgraph.core import rlgraph_api
from rlgraph.core.specs.spec_types import ActivationSpec, InitializerSpec, NetworkSpec, SpaceSpec


class SharedValueFunctionPolicy(Policy, StateValues):
    """A `Policy` with an additional linear layer after its network for the value of a state.

    Args:
        network_spec: the network of both.
        action_space: of one action.
        value_weights_spec: initializer of the weights of the value layer.
        value_biases_spec: initializer of its biases; False for none.
        value_activation: its activation, None for none.
        kwargs: other arguments of `Policy`.

    Raises:
        SpecError: as `Policy`.
    """

    def __init__(
        self,
        network_spec: NetworkSpec,
        action_space: SpaceSpec,
        *,
        value_weights_spec: InitializerSpec = "glorot_uniform",
        value_biases_spec: InitializerSpec | Literal[False] = 0.0,
        value_activation: ActivationSpec = None,
        scope: str = "policy",
        **kwargs: Any,
    ):
        super().__init__(network_spec, action_space, scope=scope, **kwargs)
        self.value_layer = Dense(
            1, value_activation, value_weights_spec, value_biases_spec, scope="value-layer"
        )
        self.add_components(self.value_layer)

    @rlgraph_api
    def get_state_values_adapter_outputs_and_parameters(self, observations: Any) -> Any:
        """``{"state_values", "adapter_outputs", "parameters", "nn_outputs"}``; the network runs once."""
        return self._valued(self.outputs_and_parameters_of(observations))
