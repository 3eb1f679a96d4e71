"""A greedy policy on action values."""

from __future__ import annotations

from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np

from rlgraph.components.common.action_masks import NAME, check_masks, check_ranks
from rlgraph.components.common.action_spaces import action_space_of
from rlgraph.components.common.argument_checks import check_flag
from rlgraph.components.common.observations import Observations, Observing
from rlgraph.components.layers.dense import Dense
from rlgraph.components.layers.noisy_dense import NoisyDense
from rlgraph.components.networks.layer_chain import call_layer
from rlgraph.components.networks.neural_network import NeuralNetwork
from rlgraph.components.policies.categorical_actions import categories, choices, mask_shapes
from rlgraph.components.policies.return_distributions import ReturnDistribution
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.core.functional.distributions.categorical import mask_logits
from rlgraph.core.specs.spec_types import NetworkSpec, SpaceSpec
from rlgraph.spaces import Space


class QPolicy(Observing):
    """A network with linear heads: one value per action.

    A container action has a head for each part, and action values of its structure: ``[B, A]`` for an ``IntBox(A)``,
    ``[B, 2]`` for a `BoolBox`, ``[B, k, A]`` for an ``IntBox(A, shape=(k,))``. For ``IntBox([3, 5])`` they are
    ``[B, 2, 5]``, with -inf for actions that do not exist.

    Actions that the mask of the observations forbids have the value `IMPOSSIBLE`, so that they are neither the greedy
    action nor the maximum of a target. Masks have the shape of the action values and the ranks of the states; for a
    container action they are a container of some or all parts. Elements whose mask allows nothing have all existing
    actions.

    Its API methods take `observations`: states ``[B, ...]``, or a bundle of them and more (see `Observations`). With a
    recurrent network their results include the ``"internal_states"`` after the last step, in the form in which
    observations have them; their Space is `internal_states_space`. For sequences, results are sequences.

    Args:
        network_spec: the network (instance, list of layer specs, or spec).
        action_space: an `IntBox` with categories or a `BoolBox`, or a container of them.
        returns: the heads give the N numbers of such a distribution for each action, which `get_distributions` returns;
            action values are their means. None: the values themselves.
        noisy: the heads are noisy layers, see `NoisyDense`.

    Raises:
        SpecError: `action_space` is not a Space, or an action is not categorical.
    """

    other_names = MappingProxyType(
        {"action_adapter_spec": "Give its pre_network_spec as the last layers of 'network_spec'."}
    )

    def __init__(
        self,
        network_spec: NetworkSpec,
        action_space: SpaceSpec,
        returns: ReturnDistribution | None = None,
        noisy: bool = False,
        scope: str = "policy",
        **kwargs: Any,
    ):
        self.returns = returns
        self.dense = NoisyDense if check_flag(noisy, f"{scope}.noisy") else Dense
        self.action_space = action_space_of(action_space, f"{scope}.action_space")
        self.categories = categories(self.action_space, scope)
        self.mask_shapes = mask_shapes(self.action_space, scope)
        self.boxes = self.action_space.flatten()
        self.network = NeuralNetwork.from_spec(network_spec, path=f"{scope}.network_spec")
        heads = self.make_heads()
        if returns is None:
            kwargs["switched_off_apis"] = {*kwargs.get("switched_off_apis", ()), "get_distributions"}
        super().__init__(self.network, *heads, scope=scope, **kwargs)

    def make_heads(self) -> list[Component]:
        """The components after the network."""
        self.q_heads = self.linear_heads("q-values")
        return list(self.q_heads.values())

    def linear_heads(self, name: str) -> dict[str, Any]:
        """A linear layer for each part of an action, with the numbers of each action of each of its elements."""
        return {
            path: self.dense(
                prod(box.shape) * self.categories[path] * self.numbers_per_action,
                scope=f"{name}-{path.replace('/', '-')}" if path else name,
            )
            for path, box in self.boxes.items()
        }

    @rlgraph_api
    def get_q_values(self, observations: Any) -> Any:
        """``{"q_values"}``, ``[B, A]`` or a container; and ``"internal_states"`` of a recurrent network."""
        features = self.features_of(observations)
        q_values = self.q_values_of(features.pop("nn_outputs"), self.training_of(observations))
        return {"q_values": self._allowed(q_values, observations), **features}

    @rlgraph_api
    def get_q_values_and_action(self, observations: Any) -> Any:
        """``{"q_values", "action"}``, and ``"internal_states"`` of a recurrent network; the network runs once."""
        found = self.get_q_values(observations)
        return {**found, "action": self._argmax(found["q_values"])}

    @rlgraph_api
    def get_distributions(self, observations: Any) -> Any:
        """``{"distributions": [B, A, N]}`` or a container, for all actions; and ``"action"``, the one of largest mean.

        And ``"internal_states"`` of a recurrent network.
        """
        features = self.features_of(observations)
        numbers = self.numbers_of(features.pop("nn_outputs"), self.training_of(observations))
        q_values = self._allowed(self.as_action_values(self._means_of(numbers)), observations)
        return {
            "distributions": self.action_space.unflatten_sample(numbers),
            "action": self._argmax(q_values),
            **features,
        }

    @property
    def numbers_per_action(self) -> int:
        """How many numbers the heads give for each action."""
        return 1 if self.returns is None else self.returns.size

    def numbers_of(self, features: Any, training: bool | None = None) -> dict[str, Any]:
        """Action values, or the numbers of their distributions, by path; for use in API methods."""
        return self.head_outputs(self.q_heads, features, training)

    def q_values_of(self, features: Any, training: bool | None = None) -> Any:
        """Action values from the network's features, for use in API methods."""
        numbers = self.numbers_of(features, training)
        return self.as_action_values(numbers if self.returns is None else self._means_of(numbers))

    def _means_of(self, numbers: dict[str, Any]) -> dict[str, Any]:
        return {path: self._means(x) for path, x in numbers.items()}

    def preferences_of(self, features: Any, training: bool | None = None) -> Any:
        """Scores that order the actions of a state as their values do, for use in API methods; default: the values."""
        return self.q_values_of(features, training)

    def as_action_values(self, q_values: dict[str, Any]) -> Any:
        """Values by path in the structure of an action, for use in API methods; -inf for actions that do not exist."""
        existing = {
            path: self._without_missing(values, path) if self.differs(path) else values
            for path, values in q_values.items()
        }
        return self.action_space.unflatten_sample(existing)

    def differs(self, path: str) -> bool:
        """Whether the elements of a part have different numbers of actions."""
        return np.ndim(choices(self.boxes[path])) > 0

    def existing(self, ops: Any, path: str) -> Any:
        """Which actions the elements of such a part have, bool ``[k, A]``; for use in graph functions."""
        numbers = ops.stack([ops.full((), int(n), "int64") for n in np.ravel(choices(self.boxes[path]))])
        return ops.arange(self.categories[path]) < ops.reshape(numbers, (*self.boxes[path].shape, 1))

    def head_outputs(self, heads: dict[str, Any], features: Any, training: bool | None) -> dict[str, Any]:
        """The output of each head, for use in API methods: by path, ``[B, ..., A]`` or ``[B, ..., A, N]``."""
        outputs = {path: call_layer(head, features, training=training) for path, head in heads.items()}
        return {
            path: self._split(output, path) if self.boxes[path].shape or self.returns else output
            for path, output in outputs.items()
        }

    @rlgraph_api
    def get_deterministic_action(self, observations: Any) -> Any:
        """``{"action"}``, of largest value among those allowed, ``[B]`` or a container.

        And ``"internal_states"`` of a recurrent network.
        """
        features = self.features_of(observations)
        preferences = self.preferences_of(features.pop("nn_outputs"), self.training_of(observations))
        return {"action": self._argmax(self._allowed(preferences, observations)), **features}

    def _allowed(self, preferences: Any, observations: Any) -> Any:
        """Action values, those of forbidden actions below all others; unchanged without a mask."""
        mask = Observations.of(observations, self.scope_path).action_mask
        return preferences if mask is None else self._masked(preferences, mask)

    @graph_fn
    def _split(self, ops: Any, outputs: Any, path: str) -> Any:
        """``[B, k * A] -> [B, k, A]``, ``[B, T, k * A] -> [B, T, k, A]``; with distributions ``-> [B, k, A, N]``."""
        numbers = () if self.returns is None else (self.returns.size,)
        shape = (*ops.shape(outputs)[:-1], *self.boxes[path].shape, self.categories[path], *numbers)
        return ops.reshape(outputs, shape)

    @graph_fn
    def _means(self, ops: Any, numbers: Any) -> Any:
        """``[B, ..., A, N] -> [B, ..., A]``."""
        assert self.returns is not None
        return self.returns.means(ops, numbers)

    @graph_fn
    def _without_missing(self, ops: Any, q_values: Any, path: str) -> Any:
        """``[B, k, A] -> [B, k, A]``."""
        return ops.where(self.existing(ops, path), q_values, ops.full_like(q_values, -np.inf))

    @graph_fn(flatten_ops=True, space_of="action_mask")
    def _masked(self, ops: Any, space: Space, preferences: Any, action_mask: Any) -> Any:
        """Both by path; forbidden actions get values below all allowed ones: ``[B, ..., A] -> [B, ..., A]``."""
        check_masks(space, self.mask_shapes)
        masked = dict(preferences)
        for path, mask in action_mask.items():
            check_ranks(mask, preferences[path], self.mask_shapes[path], f"{NAME}/{path}" if path else NAME)
            allowed = mask & self.existing(ops, path) if self.differs(path) else mask
            masked[path] = mask_logits(ops, preferences[path], allowed)
        return masked

    @graph_fn(flatten_ops=True, split_ops=True, add_auto_key_as_first_param=True)
    def _argmax(self, ops: Any, key: str, q_values: Any) -> Any:
        best, dtype = ops.argmax(q_values, axis=-1), self.boxes[key].dtype
        return best if dtype == "int64" else ops.astype(best, dtype)
