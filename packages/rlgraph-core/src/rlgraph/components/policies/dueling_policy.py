"""A Q-policy with separate streams for state value and advantages."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from rlgraph.components.common.argument_checks import check_whole
from rlgraph.components.networks.layer_chain import call_layer
from rlgraph.components.policies.q_policy import QPolicy
from rlgraph.components.policies.return_distributions import ReturnDistribution
from rlgraph.core import Component, graph_fn
from rlgraph.core.functional.dueling import dueling_q_values
from rlgraph.core.specs.spec_types import ActivationSpec, NetworkSpec, SpaceSpec


class DuelingPolicy(QPolicy):
    """``Q = V + A - mean(A)`` (Wang et al., 2016, eq. 9); with distributions, each number of theirs is such a sum.

    The parts of a container action share the state value (Tavakoli et al., 2018, https://arxiv.org/abs/1711.08946).

    Args:
        network_spec: the shared network.
        action_space: an `IntBox` with categories or a `BoolBox`, or a container of them.
        units_state_value_stream: units of one hidden layer in each stream; 0 for none.
        activation: activation of these hidden layers.
        returns, noisy: as of `QPolicy`; noisy layers are those of the streams, too.

    Raises:
        SpecError: as `QPolicy`; units below 0.
    """

    other_names = MappingProxyType({**QPolicy.other_names, "activation_state_value_stream": "activation"})

    def __init__(
        self,
        network_spec: NetworkSpec,
        action_space: SpaceSpec,
        units_state_value_stream: int = 0,
        activation: ActivationSpec = "relu",
        returns: ReturnDistribution | None = None,
        noisy: bool = False,
        scope: str = "policy",
        **kwargs: Any,
    ):
        self.units_state_value_stream = check_whole(
            units_state_value_stream, f"{scope}.units_state_value_stream", least=0
        )
        self.stream_activation = activation
        super().__init__(network_spec, action_space, returns, noisy, scope=scope, **kwargs)

    def make_heads(self) -> list[Component]:
        units = self.units_state_value_stream
        self.streams = (
            [
                self.dense(units, self.stream_activation, scope=f"{name}-hidden")
                for name in ("value", "advantages")
            ]
            if units
            else []
        )
        self.value_head = self.dense(self.numbers_per_action, scope="value")
        self.advantage_heads = self.linear_heads("advantages")
        return [*self.streams, self.value_head, *self.advantage_heads.values()]

    def numbers_of(self, features: Any, training: bool | None = None) -> dict[str, Any]:
        state_values = call_layer(self.value_head, self._in_stream(0, features, training), training=training)
        return {
            path: self._combine_elements(state_values, part, path)
            if self.boxes[path].shape or self.returns
            else self._combine(state_values, part)
            for path, part in self._advantages(features, training).items()
        }

    def preferences_of(self, features: Any, training: bool | None = None) -> Any:
        """The advantages, which order actions as Q does (Wang et al., 2016, section 3); not so with distributions."""
        if self.returns is not None:
            return self.q_values_of(features, training)
        return self.as_action_values(self._advantages(features, training))

    def _advantages(self, features: Any, training: bool | None) -> dict[str, Any]:
        return self.head_outputs(self.advantage_heads, self._in_stream(1, features, training), training)

    def _in_stream(self, number: int, features: Any, training: bool | None) -> Any:
        """The output of the hidden layer of a stream; without one the features."""
        return call_layer(self.streams[number], features, training=training) if self.streams else features

    @graph_fn
    def _combine(self, ops: Any, state_values: Any, advantages: Any) -> Any:
        """``state_values [B, 1], advantages [B, A] -> [B, A]``."""
        return dueling_q_values(ops, state_values, advantages)

    @graph_fn
    def _combine_elements(self, ops: Any, state_values: Any, advantages: Any, path: str) -> Any:
        """``state_values [B, 1], advantages [B, ..., A] -> [B, ..., A]``; or ``[B, N], [B, ..., A, N]``."""
        *ranks, numbers = ops.shape(state_values)
        missing = len(advantages.shape) - len(state_values.shape)
        aligned = ops.reshape(state_values, (*ranks, *[1] * missing, numbers))
        existing = self.existing(ops, path) if self.differs(path) else None
        if self.returns is None:
            return dueling_q_values(ops, aligned, advantages, existing)
        existing = None if existing is None else ops.expand_dims(existing, -1)
        return dueling_q_values(ops, aligned, advantages, existing, axis=-2)
