"""The base class of action adapters."""

from __future__ import annotations

from abc import abstractmethod
from math import prod
from typing import Any, ClassVar, Literal

from rlgraph.components.distributions.distribution import Distribution
from rlgraph.components.layers.dense import Dense
from rlgraph.components.networks.layer_chain import call_layer
from rlgraph.components.networks.neural_network import NeuralNetwork
from rlgraph.core import AssemblyError, Component, SpecError, rlgraph_api
from rlgraph.core.ops import SymbolicTensor
from rlgraph.core.specs.spec_types import ActivationSpec, InitializerSpec, NetworkSpec, SpaceSpec
from rlgraph.spaces import BoxSpace, SpaceError, from_spec


class ActionAdapter(Component):
    """A linear layer after a network that computes the parameters of an action distribution.

    A subclass defines the accepted action Spaces (`check_action_space`), the numbers per element of an action
    (`numbers_per_element`), their conversion to parameters (`_parameters`), and the distribution (`distribution_spec`).

    Args:
        action_space: the Space of one action, a leaf; ranks are ignored.
        weights_spec: initializer of the layer's weights.
        biases_spec: initializer of its biases; False for none.
        activation: activation of the layer, None for none.
        pre_network_spec: a network between the features and the layer.

    Raises:
        SpecError: the adapter does not accept such actions.

    Attributes:
        takes_mask: whether `action_mask` is supported.
    """

    takes_mask: ClassVar[bool] = False

    def __init__(
        self,
        action_space: SpaceSpec,
        weights_spec: InitializerSpec = "glorot_uniform",
        biases_spec: InitializerSpec | Literal[False] = 0.0,
        activation: ActivationSpec = None,
        pre_network_spec: NetworkSpec = None,
        scope: str = "action-adapter",
        **kwargs: Any,
    ):
        self.action_space: BoxSpace = _leaf(action_space, f"{scope}.action_space")
        wanted = self.wanted_actions()
        if wanted:
            raise SpecError(f"expected {wanted}, given {self.action_space!r}", path=f"{scope}.action_space")
        self.pre_network = None
        if pre_network_spec is not None:
            self.pre_network = NeuralNetwork.from_spec(
                pre_network_spec, path=f"{scope}.pre_network_spec", scope="pre-network"
            )
            if self.pre_network.internal_states_space is not None:
                raise SpecError(
                    "move recurrent layers into the network before it, which carries their states",
                    path=f"{scope}.pre_network_spec",
                )
        self.action_layer = Dense(
            self.num_outputs(), activation, weights_spec, biases_spec, scope="action-layer"
        )
        before = () if self.pre_network is None else (self.pre_network,)
        super().__init__(*before, self.action_layer, scope=scope, **kwargs)

    @abstractmethod
    def wanted_actions(self) -> str:
        """A description of the accepted Spaces if `action_space` is not one of them; else an empty text."""

    @abstractmethod
    def num_outputs(self) -> int:
        """The number of outputs of the layer."""

    @abstractmethod
    def distribution_spec(self) -> dict[str, Any]:
        """The spec of the distribution that takes the parameters."""

    def make_distribution(self, scope: str = "distribution") -> Distribution:
        """The distribution that takes the parameters."""
        return Distribution.from_spec(self.distribution_spec(), scope=scope)

    @property
    def num_elements(self) -> int:
        """The number of elements of one action."""
        return prod(self.action_space.shape)

    @rlgraph_api
    def get_parameters(self, nn_outputs: Any, action_mask: Any = None, training: Any = None) -> Any:
        """The parameters of the distribution of actions.

        Args:
            nn_outputs: features ``[B, N]``.
            action_mask: of categorical actions, which are possible: bool ``[B, ..., A]``; default: all.
            training: passed to the layers that accept it.
        """
        outputs = self.get_adapter_outputs(nn_outputs, training)
        return self.get_parameters_from_adapter_outputs(outputs, action_mask)

    @rlgraph_api
    def get_adapter_outputs(self, nn_outputs: Any, training: Any = None) -> Any:
        """The outputs of the layer, ``[B, N] -> [B, num_outputs]``; `training` as in `get_parameters`."""
        before = self.pre_network
        features = nn_outputs if before is None else call_layer(before, nn_outputs, training=training)
        return self.action_layer.call(features)

    @rlgraph_api(must_be_complete=False)
    def get_parameters_from_adapter_outputs(self, adapter_outputs: Any, action_mask: Any = None) -> Any:
        """The parameters from the layer's outputs ``[B, num_outputs]``; `action_mask` as in `get_parameters`."""
        if action_mask is None:
            return self._parameters(adapter_outputs)
        if not self.takes_mask:
            raise AssemblyError(
                f"{self.scope_path}: action_mask needs categorical actions, and a "
                f"{type(self).__name__} of {self.action_space!r} has no categories: pass masks only for "
                "parts of an action with categorical distributions"
            )
        return self._masked_parameters(adapter_outputs, action_mask)

    _parameters: Any
    _masked_parameters: Any

    def halves(self, ops: Any, outputs: Any) -> tuple[Any, ...]:
        """``[B, 2 num_elements]`` -> twice ``[B, ...]``, with the shape of one action; for use in graph functions."""
        halves = ops.split(outputs, [self.num_elements] * 2, axis=-1)
        return tuple(self.shaped(ops, half) for half in halves)

    def shaped(self, ops: Any, outputs: Any, *more: int) -> Any:
        """``[B, k] -> [B, ...]`` with the shape of one action, and `more` trailing axes; for use in graph functions."""
        shape = (*self.action_space.shape, *more)
        if isinstance(outputs, SymbolicTensor) and outputs.shape[-1] != prod(shape):
            raise SpaceError(
                f"adapter_outputs: expected {self.num_outputs()} numbers for each item, given {outputs!r}; "
                "pass the result of get_adapter_outputs"
            )
        if not shape:
            return ops.squeeze(outputs, -1)
        return outputs if len(shape) == 1 else ops.reshape(outputs, (*ops.shape(outputs)[:-1], *shape))


def _leaf(action_space: Any, where: str) -> BoxSpace:
    try:
        space = from_spec(action_space).without_ranks()
    except SpaceError as error:
        raise SpecError(str(error), path=where) from None
    if not isinstance(space, BoxSpace):
        raise SpecError(
            f"expected a Space without parts, given {space!r}; choose_adapter takes any", path=where
        )
    return space
