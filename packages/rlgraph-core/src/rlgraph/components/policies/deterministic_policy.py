"""A policy that computes its action, without a distribution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.components.common.action_spaces import action_space_of, check_actions
from rlgraph.components.common.observations import Observing
from rlgraph.components.layers.dense import Dense
from rlgraph.components.networks.neural_network import NeuralNetwork
from rlgraph.core import SpecError, graph_fn, rlgraph_api
from rlgraph.core.functional.distributions.squashed_normal import squash
from rlgraph.core.functional.td3 import smoothed_actions
from rlgraph.core.specs.spec_types import NetworkSpec, SpaceSpec
from rlgraph.spaces import FloatBox, Space


class DeterministicPolicy(Observing):
    """``low + (tanh(f(s)) + 1) (high - low) / 2``, of each part of an action (Lillicrap et al., 2016, section 7).

    https://arxiv.org/abs/1509.02971. Actions are floats with both bounds, or containers of them. The API methods take
    `observations`: states ``[B, ...]``, or a bundle of them and more (see `Observations`).

    Args:
        network_spec: the network before the linear layers of the actions (instance, list of layer specs, or spec).
        action_space: of one action.

    Raises:
        SpecError: an action that is not floats with both bounds.
    """

    def __init__(
        self, network_spec: NetworkSpec, action_space: SpaceSpec, scope: str = "policy", **kwargs: Any
    ):
        self.action_space = action_space_of(action_space, f"{scope}.action_space")
        self.boxes = {path: _bounded(box, path, scope) for path, box in self.action_space.flatten().items()}
        self.network = NeuralNetwork.from_spec(network_spec, path=f"{scope}.network_spec")
        self.heads = {
            path: Dense(box.flat_dim, scope=f"action-{path.replace('/', '-')}" if path else "action")
            for path, box in self.boxes.items()
        }
        super().__init__(self.network, *self.heads.values(), scope=scope, **kwargs)

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        self.low = {path: self._bound(path, "low") for path in self.boxes}
        self.high = {path: self._bound(path, "high") for path in self.boxes}

    def _bound(self, path: str, name: str) -> Any:
        """A number, or one for each element."""
        value = getattr(self.boxes[path], name)
        if np.ndim(value) == 0:
            return float(value)
        variable = f"{name}-{path.replace('/', '-')}" if path else name
        return self.get_variable(variable, FloatBox(shape=value.shape), initializer=value, trainable=False)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().check_input_spaces(input_spaces, action_space)
        if "actions" in input_spaces:
            check_actions(input_spaces["actions"], self.action_space)

    @rlgraph_api
    def get_deterministic_action(self, observations: Any) -> Any:
        """``{"action": [B, ...]}``, and ``"internal_states"`` of a recurrent network."""
        features = self.features_of(observations)
        outputs = features.pop("nn_outputs")
        parts = {path: self._squash(head.call(outputs), path) for path, head in self.heads.items()}
        return {"action": self.action_space.unflatten_sample(parts), **features}

    @graph_fn
    def _squash(self, ops: Any, outputs: Any, path: str) -> Any:
        """``[B, N] -> [B, ...]``."""
        leading = [ops.shape(outputs)[i] for i in range(len(outputs.shape) - 1)]
        return squash(
            ops, ops.reshape(outputs, (*leading, *self.boxes[path].shape)), *self._limits(ops, path)
        )

    @rlgraph_api(must_be_complete=False)
    def smoothed(self, actions: Any = None, noise: Any = None, noise_clip: Any = None) -> Any:
        """Actions with clipped normal noise, inside their bounds: ``[B, ...] -> [B, ...]``.

        Args:
            actions: of this policy, or of a copy.
            noise, noise_clip: numbers, standard deviation and limit in halves of the range of each element (Fujimoto
                et al., 2018, section 5.3, https://arxiv.org/abs/1802.09477).
        """
        return None if actions is None else self._smooth(actions, noise, noise_clip)

    @graph_fn(flatten_ops={"actions"}, split_ops=True, add_auto_key_as_first_param=True)
    def _smooth(self, ops: Any, key: str, actions: Any, noise: float, noise_clip: float) -> Any:
        drawn = noise * ops.random_normal(ops.shape(actions))
        return smoothed_actions(ops, actions, drawn, noise_clip, *self._limits(ops, key))

    def _limits(self, ops: Any, path: str) -> tuple[Any, Any]:
        low, high = (x if isinstance(x, float) else ops.read(x) for x in (self.low[path], self.high[path]))
        return low, high


def _bounded(box: Any, path: str, scope: str) -> FloatBox:
    if not isinstance(box, FloatBox) or not box.bounded:
        where = f" in part {path!r}" if path else ""
        raise SpecError(
            f"expected floats with both bounds, or a container of them, given {box!r}{where}",
            path=f"{scope}.action_space",
        )
    return box
