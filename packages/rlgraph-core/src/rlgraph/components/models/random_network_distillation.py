"""Random network distillation: intrinsic rewards for states that are new."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.components.common.argument_checks import check_number, check_whole
from rlgraph.components.common.normalizer import float_parts
from rlgraph.components.common.running_moments import deviation_of, merge_rows, moment_variables
from rlgraph.components.layers.dense import Dense
from rlgraph.components.networks.layer_chain import call_layer
from rlgraph.components.networks.neural_network import NeuralNetwork
from rlgraph.components.optimizers.optimizer import Optimizer
from rlgraph.components.preprocessing.preprocess_layer import check_numeric
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.core.functional.curiosity import distillation_error
from rlgraph.core.functional.weighting import weighted_mean
from rlgraph.core.specs.spec_types import ComponentSpec, NetworkSpec
from rlgraph.spaces import FloatBox, Space
from rlgraph.spaces.errors import mismatch


class RandomNetworkDistillation(Component):
    """Random network distillation (Burda et al., 2018), https://arxiv.org/abs/1810.12894.

    A target network with random weights that never change maps states to features. A predictor learns to predict the
    features of visited states. Its error is the intrinsic reward: it is large for states unlike those visited. Both
    networks take states that `standardize` returned.

    Args:
        network_spec: layers of target and predictor (instance, list of layer specs, or spec); followed by a linear
            layer of `num_features`. The predictor has a further layer of as many units with ReLU before that.
        num_features: the length of the features; 512 in the paper.
        limit: the largest size of a standardized number, above 0.
        optimizer_spec: the optimizer of the predictor.
        epsilon: added to the variance of states, at least 0; 1e-8 up to version 0.2.

    Raises:
        SpecError: a number out of its range, or an invalid spec.
        SpaceError: text, or pictures that are not floats.
    """

    def __init__(
        self,
        network_spec: NetworkSpec,
        num_features: int = 64,
        limit: float = 5.0,
        optimizer_spec: ComponentSpec = "adam",
        epsilon: float = 0.0,
        scope: str = "random-network-distillation",
        **kwargs: Any,
    ):
        self.epsilon = check_number(epsilon, f"{scope}.epsilon", least=0)
        check_whole(num_features, f"{scope}.num_features", least=1)
        self.limit = check_number(limit, f"{scope}.limit", above=0)
        network = NeuralNetwork.from_spec(network_spec, path=f"{scope}.network_spec")
        self.target = _Features(network.copy(scope="network"), (), num_features, "target", trainable=False)
        hidden = (Dense(num_features, "relu", scope="hidden"),)
        self.predictor = _Features(network.copy(scope="network"), hidden, num_features, "predictor")
        self.optimizer = Optimizer.from_spec(optimizer_spec, path=f"{scope}.optimizer_spec")
        super().__init__(self.target, self.predictor, self.optimizer, scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        if "states" in input_spaces:
            for path, box in input_spaces["states"].flatten().items():
                where = f"states/{path}".rstrip("/")
                check_numeric(box, where)
                if box.dtype == "uint8" and box.rank and box.num_categories in (None, 256):
                    hint = "pictures are standardized as floats: divide them by 255 in preprocessing_spec"
                    raise mismatch(where, "floats", repr(box), hint)

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        boxes = input_spaces["states"].flatten()
        shapes = {path: boxes[path].shape for path in float_parts(input_spaces["states"])}
        self.count, self.mean, self.variance = moment_variables(self, shapes)

    @rlgraph_api
    def standardize(self, states: Any, weights: Any = None) -> Any:
        """``(x - mean) / deviation`` of ``states [B, ...]``, limited, by all states so far, these included.

        Categories and bools pass unchanged. The moments are on the host, in double precision.

        Args:
            states: ``[B, ...]``, or with a time rank.
            weights: ``[B]``, or with a time rank; a state of weight 0 does not count. Default: all count.
        """
        return self._standardized(states, *self._moments(states, weights))

    @rlgraph_api
    def get_intrinsic_rewards(self, observations: Any) -> Any:
        """``[B]``: the error of the predictor for standardized states ``[B, ...]``."""
        return self._rewards(self._errors(observations))

    @rlgraph_api
    def get_loss(self, observations: Any, weights: Any = None) -> Any:
        """``{"loss"}``, the mean of the errors []; arguments as of `update`."""
        return {"loss": self._mean(self._errors(observations), weights)}

    @rlgraph_api
    def update(self, observations: Any, weights: Any = None, progress: Any = None) -> Any:
        """One step of the optimizer on the mean of the errors.

        Args:
            observations: standardized states ``[B, ...]``, or with a time rank.
            weights: ``[B]``, or with a time rank; an item of weight 0 does not count. Default: all count.
            progress: the fraction of training done, []; only needed if the learning rate is a schedule.

        Returns:
            ``{"loss": []}`` before the step.
        """
        losses = {"loss": self._mean(self._errors(observations, True), weights)}
        self.optimizer.step(self.predictor.variables(trainable_only=True), losses["loss"], progress)
        return losses

    def _errors(self, observations: Any, training: bool | None = None) -> Any:
        return self._error(self.predictor.call(observations, training), self.target.call(observations))

    @graph_fn
    def _error(self, ops: Any, predictions: Any, features: Any) -> Any:
        return distillation_error(ops, predictions, ops.stop_gradient(features))

    @graph_fn
    def _rewards(self, ops: Any, errors: Any) -> Any:
        return ops.stop_gradient(errors)

    @graph_fn
    def _mean(self, ops: Any, errors: Any, weights: Any = None) -> Any:
        return weighted_mean(ops, errors, weights)

    @graph_fn(
        host=True,
        returns=2,
        spaces=lambda self, key, states, weights=None: (_moment(states), _moment(states)),
        flatten_ops={"states"},
        split_ops=True,
        add_auto_key_as_first_param=True,
    )
    def _moments(self, key: str, states: np.ndarray, weights: np.ndarray | None = None) -> Any:
        """Count states; their mean and deviation so far, ``[...]``."""
        if key not in self.count:
            return np.zeros(()), np.ones(())
        count, mean, variance = self.count[key], self.mean[key], self.variance[key]
        rows = states.reshape(-1, *mean.shape) if weights is None else states[weights.astype(bool)]
        merge_rows(count, mean, variance, rows.astype(mean.dtype))
        return mean, deviation_of(mean, variance, self.epsilon)

    @graph_fn(flatten_ops={"states", "mean", "deviation"}, split_ops=True, add_auto_key_as_first_param=True)
    def _standardized(self, ops: Any, key: str, states: Any, mean: Any, deviation: Any) -> Any:
        if key not in self.count:
            return states
        return ops.clip((states - mean) / deviation, -self.limit, self.limit)


def _moment(space: Any) -> FloatBox:
    """The Space of the mean of states."""
    return FloatBox(shape=space.shape if isinstance(space, FloatBox) else ())


class _Features(Component):
    """A network, further layers, and a linear layer: ``[B, ...] -> [B, num_features]``."""

    def __init__(
        self, network: Any, further: tuple[Dense, ...], num_features: int, scope: str, **kwargs: Any
    ):
        self.network, self.further = network, further
        self.features = Dense(num_features, scope="features")
        super().__init__(network, *further, self.features, scope=scope, **kwargs)

    @rlgraph_api
    def call(self, inputs: Any, training: Any = None) -> Any:
        """``[B, ...] -> [B, num_features]``."""
        hidden = call_layer(self.network, inputs, training=training)
        for layer in self.further:
            hidden = layer.call(hidden)
        return self.features.call(hidden)
