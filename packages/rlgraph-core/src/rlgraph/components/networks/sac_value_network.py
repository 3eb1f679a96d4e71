"""A value function of states and actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from rlgraph.components.common.action_scaling import ActionScaling
from rlgraph.components.common.argument_checks import check_flag
from rlgraph.components.common.observations import Observing
from rlgraph.components.layers.dense import Dense
from rlgraph.components.networks.layer_chain import call_layer, is_recurrent
from rlgraph.components.networks.neural_network import sub_network
from rlgraph.core import Component, SpecError, graph_fn, rlgraph_api
from rlgraph.core.specs.spec_types import InitializerSpec, NetworkSpec
from rlgraph.spaces import BoolBox, BoxSpace, FloatBox, IntBox, Space
from rlgraph.spaces.errors import mismatch


class SACValueNetwork(Observing):
    """The value of an action in a state, ``Q(s, a)``, for soft actor-critic (Haarnoja et al., 2018,
    https://arxiv.org/abs/1812.05905): a network of the concatenated features of state and action.

    Actions are floats, one-hot or relaxed choices among them, or integers and bools, which become one-hot; all
    parts of a container are concatenated. Floats with bounds are scaled to -1..1 before, see `ActionScaling`.

    Args:
        network_spec: the network of state and action (instance, list of layer specs, or spec).
        state_network_spec: the network from states to features of rank 1, for instance convolutions
            and ``{"type": "reshape", "flatten": True}`` of images, or recurrent layers; None: states are floats, and
            flattened.
        weights_spec: initializer of the weights of the last layer.
        biases_spec: initializer of its biases; False for none.
        scale_actions: False: the network sees actions as the environment takes them, whatever their bounds.

    Raises:
        SpecError: a wrong spec of a network, or a recurrent layer after the actions.
        SpaceError: an action that is neither float nor category, or states that are not floats of rank 1 after
            `state_network_spec`.
    """

    def __init__(
        self,
        network_spec: NetworkSpec,
        state_network_spec: NetworkSpec = None,
        weights_spec: InitializerSpec = "glorot_uniform",
        biases_spec: InitializerSpec | Literal[False] = 0.0,
        scale_actions: bool = True,
        scope: str = "sac-value-network",
        **kwargs: Any,
    ):
        flatten = [{"type": "reshape", "flatten": True}]
        self.state_network = sub_network(
            flatten if state_network_spec is None else state_network_spec,
            "state-network",
            f"{scope}.state_network_spec",
        )
        self.network = sub_network(network_spec, "network", f"{scope}.network_spec")
        if is_recurrent(self.network):
            raise SpecError(
                "expected no recurrent layers, since each action is valued by itself: give them as state_network_spec",
                path=f"{scope}.network_spec",
            )
        self.joined = StatesAndActions(check_flag(scale_actions, f"{scope}.scale_actions"))
        self.value_layer = Dense(1, None, weights_spec, biases_spec, scope="value-layer")
        super().__init__(
            self.state_network, self.joined, self.network, self.value_layer, scope=scope, **kwargs
        )

    @property
    def observing_network(self) -> Any:
        return self.state_network

    @rlgraph_api
    def state_action_value(self, states: Any, actions: Any) -> Any:
        """``states [B, ...], actions [B, ...] -> [B]``; the states may be in a bundle, see `Observations`."""
        features = self.joined.call(self.features_of(states)["nn_outputs"], actions)
        valued = call_layer(self.network, features, training=self.training_of(states))
        return self._value(self.value_layer.call(valued))

    @graph_fn
    def _value(self, ops: Any, values: Any) -> Any:
        """``[B, 1] -> [B]``."""
        return ops.squeeze(values, axis=-1)


class StatesAndActions(Component):
    """Features ``[B, N]`` and actions in one tensor of floats, categories one-hot; bounded floats are scaled.

    Args:
        scale_actions: False: floats are not scaled.
    """

    def __init__(self, scale_actions: bool = True, scope: str = "states-and-actions", **kwargs: Any):
        self.scaling = ActionScaling() if scale_actions else None
        super().__init__(*([self.scaling] if self.scaling else []), scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        states, actions = input_spaces["states"], input_spaces["actions"]
        if not isinstance(states, FloatBox) or states.rank != 1:
            raise mismatch(
                "states",
                "features of rank 1 (floats)",
                repr(states),
                "end state_network_spec with {'type': 'reshape', 'flatten': True} or a dense layer",
            )
        self.boxes: dict[str, BoxSpace] = actions.flatten()
        for path, box in self.boxes.items():
            name = f"actions/{path}" if path else "actions"
            if not isinstance(box, FloatBox | BoolBox) and getattr(box, "num_categories", None) is None:
                raise mismatch(name, "floats, bools, or integers with categories", repr(box))
            if (box.has_time_rank, box.time_major) != (states.has_time_rank, states.time_major):
                wanted = "the ranks of states in their order, so that each action is valued in its own state"
                raise mismatch(name, wanted, f"{box!r} beside {states!r}")

    @rlgraph_api
    def call(self, states: Any, actions: Any) -> Any:
        """``states [B, N], actions [B, ...] -> [B, N + M]``."""
        return self._call(states, actions if self.scaling is None else self.scaling.scale(actions))

    @graph_fn(flatten_ops={"actions"})
    def _call(self, ops: Any, states: Any, actions: Any) -> Any:
        leading = [ops.shape(states)[i] for i in range(len(states.shape) - 1)]
        parts = [self._floats(ops, self.boxes[path], action, leading) for path, action in actions.items()]
        return ops.concat([states, *parts], axis=-1)

    def _floats(self, ops: Any, box: BoxSpace, action: Any, leading: list[Any]) -> Any:
        """``[B, ...] -> [B, M]``."""
        size = box.flat_dim
        categories = box.num_categories if isinstance(box, IntBox) else None
        if categories is not None:
            action, size = ops.one_hot(ops.astype(action, "int64"), categories), size * categories
        elif isinstance(box, BoolBox):
            action = ops.astype(action, "float")
        return ops.reshape(action, (*leading, size))
