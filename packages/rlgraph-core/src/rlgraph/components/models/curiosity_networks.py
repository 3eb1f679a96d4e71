"""The networks of the intrinsic curiosity module."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from rlgraph.components.common.action_scaling import ActionScaling, scaled_space
from rlgraph.components.common.action_spaces import check_actions
from rlgraph.components.layers.dense import Dense
from rlgraph.components.models.supervised_predictor import SupervisedPredictor
from rlgraph.components.networks.layer_chain import call_layer
from rlgraph.components.networks.neural_network import NeuralNetwork
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.core.functional.curiosity import prediction_error
from rlgraph.spaces import IntBox, Space
from rlgraph.spaces.errors import mismatch


class CuriosityNetworks(Component):
    """An encoder of states, an inverse model of actions, and a forward model of encoded states.

    Args: see `IntrinsicCuriosityModule`.
    """

    def __init__(
        self,
        encoder_spec: Any,
        action_space: Space,
        num_features: int,
        inverse_spec: Any,
        forward_spec: Any,
        distributions_spec: Mapping[str, Any],
        where: str,
        scale_actions: bool = True,
        scope: str = "networks",
    ):
        self.action_space = action_space
        self.scaling = ActionScaling(action_space) if scale_actions else None
        self.encoder = NeuralNetwork.from_spec(encoder_spec, path=f"{where}.encoder_spec", scope="encoder")
        self.features = Dense(num_features, scope="features")
        inverse = NeuralNetwork.from_spec(inverse_spec, path=f"{where}.inverse_spec")
        predicted = scaled_space(action_space) if scale_actions else action_space
        self.inverse = SupervisedPredictor(inverse, predicted, distributions_spec, scope="inverse")
        self.forward = NeuralNetwork.from_spec(forward_spec, path=f"{where}.forward_spec", scope="forward")
        self.prediction = Dense(num_features, scope="prediction")
        parts = (self.encoder, self.features, self.inverse, self.forward, self.prediction, self.scaling)
        super().__init__(*filter(None, parts), scope=scope)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        if "actions" not in input_spaces:
            return
        if not _alike(input_spaces["actions"], self.action_space):
            raise mismatch("actions", f"those of {self.action_space!r}", repr(input_spaces["actions"]))
        check_actions(input_spaces["actions"], self.action_space)

    @rlgraph_api
    def get_features(self, states: Any, training: Any = None) -> Any:
        """``[B, N]``."""
        return self.features.call(call_layer(self.encoder, states, training=training))

    @rlgraph_api
    def get_action_parameters(self, states: Any, next_states: Any, training: Any = None) -> Any:
        """Parameters of the distribution of the action that led from one to the other."""
        both = self._pair(self.get_features(states, training), self.get_features(next_states))
        return self.inverse.get_distribution_parameters(both, training)

    @rlgraph_api
    def predict_actions(self, states: Any, next_states: Any) -> Any:
        """The most likely actions."""
        found = self.inverse.distribution.sample_deterministic(
            self.get_action_parameters(states, next_states)
        )
        return found if self.scaling is None else self.scaling.restore(found)

    @rlgraph_api
    def get_inverse_error(self, states: Any, actions: Any, next_states: Any, training: Any = None) -> Any:
        """Minus the log-likelihood of the actions ``[B]``, of scaled ones if they are."""
        parameters = self.get_action_parameters(states, next_states, training)
        return self._negative(self.inverse.distribution.log_prob(parameters, self._scaled(actions)))

    @rlgraph_api
    def get_forward_error(self, states: Any, actions: Any, next_states: Any, training: Any = None) -> Any:
        """``1/2 |prediction - features of next_states|^2``, ``[B]``."""
        known = self._with_actions(self.get_features(states, training), self._scaled(actions))
        predictions = self.prediction.call(call_layer(self.forward, known, training=training))
        return self._error(predictions, self.get_features(next_states))

    def _scaled(self, actions: Any) -> Any:
        return actions if self.scaling is None else self.scaling.scale(actions)

    @graph_fn
    def _pair(self, ops: Any, features: Any, next_features: Any) -> Any:
        return ops.concat([features, next_features], axis=-1)

    @graph_fn(flatten_ops={"actions"})
    def _with_actions(self, ops: Any, features: Any, actions: Mapping[str, Any]) -> Any:
        """Features, and actions as numbers: ``[B, N], [B, ...] -> [B, N + M]``; categories are one-hot."""
        items = ops.shape(features)[:-1]
        parts = [features]
        for path, box in self.action_space.flatten().items():
            action, categories = actions[path], 1
            if isinstance(box, IntBox):
                categories = int(np.max(np.asarray(box.high) - np.asarray(box.low)))
                action = ops.one_hot(self._from_zero(ops, box, ops.astype(action, "int64")), categories)
            parts.append(ops.reshape(ops.astype(action, "float"), (*items, prod(box.shape) * categories)))
        return ops.concat(parts, axis=-1)

    @staticmethod
    def _from_zero(ops: Any, box: IntBox, action: Any) -> Any:
        """Integers that begin at `box.low`, as integers that begin at 0."""
        if isinstance(box.low, int):
            return action - box.low if box.low else action
        lows = ops.stack([ops.full((), int(low), "int64") for low in np.asarray(box.low).flat])
        return action - ops.reshape(lows, box.shape)

    @graph_fn
    def _error(self, ops: Any, predictions: Any, features: Any) -> Any:
        return prediction_error(ops, predictions, features)

    @graph_fn
    def _negative(self, ops: Any, log_probs: Any) -> Any:
        return -log_probs


def _alike(given: Space, wanted: Space) -> bool:
    """Whether the leaves are of the same kind and shape."""
    leaves = [
        {path: (type(box), box.shape) for path, box in space.flatten().items()} for space in (given, wanted)
    ]
    return leaves[0] == leaves[1]
