"""A policy that is greedy in its action values."""

from __future__ import annotations

from typing import Any

from rlgraph.components.layers.dense import Dense
from rlgraph.components.networks.neural_network import NeuralNetwork
from rlgraph.core import Component, SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import IntBox, Space


class QPolicy(Component):
    """A network and a linear head: one value per action.

    Args:
        network_spec: the network (instance, list of layer specs, or spec).
        action_space: an `IntBox` with categories.
        scope: name among its siblings.

    Raises:
        SpecError: the action Space has no categories.
    """

    def __init__(self, network_spec: Any, action_space: Space, scope: str = "policy", **kwargs: Any):
        self.action_space = action_space
        self.num_actions = count_actions(action_space, scope)
        self.network = NeuralNetwork.from_spec(network_spec, path=f"{scope}.network_spec")
        heads = self.make_heads()
        super().__init__(self.network, *heads, scope=scope, **kwargs)

    def make_heads(self) -> list[Component]:
        """The components behind the network."""
        self.q_head = Dense(self.num_actions, scope="q-values")
        return [self.q_head]

    @rlgraph_api
    def get_q_values(self, states: Any) -> Any:
        """``states [B, ...] -> [B, A]``."""
        return self.q_head.call(self.network.call(states))

    @rlgraph_api
    def get_deterministic_action(self, states: Any) -> Any:
        """The action of largest value: ``states [B, ...] -> [B]`` (int64)."""
        return self._argmax(self.get_q_values(states))

    @graph_fn
    def _argmax(self, ops: Any, q_values: Any) -> Any:
        return ops.argmax(q_values, axis=1)


def count_actions(action_space: Space, where: str) -> int:
    """The number of actions of a categorical action Space.

    Raises:
        SpecError: it is none.
    """
    if not isinstance(action_space, IntBox) or not action_space.num_categories or action_space.shape != ():
        raise SpecError(
            f"{where}: Q-learning needs one categorical action, an IntBox(n); given {action_space!r}"
        )
    return int(action_space.num_categories)
