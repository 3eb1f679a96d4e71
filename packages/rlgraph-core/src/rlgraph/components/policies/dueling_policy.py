"""A Q-policy with separate streams for state value and advantages."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from rlgraph.components.common.argument_checks import check_whole
from rlgraph.components.layers.dense import Dense
from rlgraph.components.policies.q_policy import QPolicy
from rlgraph.core import Component, graph_fn
from rlgraph.core.functional.dueling import dueling_q_values
from rlgraph.core.specs.spec_types import NetworkSpec, SpaceSpec


class DuelingPolicy(QPolicy):
    """``Q = V + A - mean(A)`` (Wang et al., 2016, eq. 9).

    The parts of a container action share the state value (Tavakoli et al., 2018, https://arxiv.org/abs/1711.08946).

    Args:
        network_spec: the shared network.
        action_space: an `IntBox` with categories or a `BoolBox`, or a container of them.
        units_state_value_stream: units of one hidden layer in each stream; 0 for none.
        activation: activation of these hidden layers.
        scope: name among its siblings.

    Raises:
        SpecError: as `QPolicy`; units below 0.
    """

    other_names = MappingProxyType({**QPolicy.other_names, "activation_state_value_stream": "activation"})

    def __init__(
        self,
        network_spec: NetworkSpec,
        action_space: SpaceSpec,
        units_state_value_stream: int = 0,
        activation: str | None = "relu",
        scope: str = "policy",
        **kwargs: Any,
    ):
        self.units_state_value_stream = check_whole(
            units_state_value_stream, f"{scope}.units_state_value_stream", least=0
        )
        self.stream_activation = activation
        super().__init__(network_spec, action_space, scope=scope, **kwargs)

    def make_heads(self) -> list[Component]:
        units = self.units_state_value_stream
        self.streams = (
            [Dense(units, self.stream_activation, scope=f"{name}-hidden") for name in ("value", "advantages")]
            if units
            else []
        )
        self.value_head = Dense(1, scope="value")
        self.advantage_heads = self.linear_heads("advantages")
        return [*self.streams, self.value_head, *self.advantage_heads.values()]

    def q_values_of(self, features: Any) -> Any:
        value_features = self.streams[0].call(features) if self.streams else features
        state_values = self.value_head.call(value_features)
        q_values = {
            path: self._combine_elements(state_values, part, path)
            if self.boxes[path].shape
            else self._combine(state_values, part)
            for path, part in self._advantages(features).items()
        }
        return self.as_action_values(q_values)

    def preferences_of(self, features: Any) -> Any:
        """The advantages, which order actions as Q does (Wang et al., 2016, section 3)."""
        return self.as_action_values(self._advantages(features))

    def _advantages(self, features: Any) -> dict[str, Any]:
        features = self.streams[1].call(features) if self.streams else features
        return self.head_outputs(self.advantage_heads, features)

    @graph_fn
    def _combine(self, ops: Any, state_values: Any, advantages: Any) -> Any:
        """``state_values [B, 1], advantages [B, A] -> [B, A]``."""
        return dueling_q_values(ops, state_values, advantages)

    @graph_fn
    def _combine_elements(self, ops: Any, state_values: Any, advantages: Any, path: str) -> Any:
        """``state_values [B, 1], advantages [B, ..., A] -> [B, ..., A]``."""
        missing = len(advantages.shape) - len(state_values.shape)
        aligned = ops.reshape(state_values, (*ops.shape(state_values), *[1] * missing))
        existing = self.existing(ops, path) if self.differs(path) else None
        return dueling_q_values(ops, aligned, advantages, existing)
