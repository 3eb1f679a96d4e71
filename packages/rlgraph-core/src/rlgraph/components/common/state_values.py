"""Values of states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.common.observations import Observations, Observing, evaluating
from rlgraph.components.common.time_folding import TimeFolding
from rlgraph.components.layers.dense import Dense
from rlgraph.components.networks.layer_chain import is_recurrent
from rlgraph.core import graph_fn, rlgraph_api
from rlgraph.core.ops import leaves_of
from rlgraph.spaces import Space
from rlgraph.spaces.errors import mismatch


class StateValues(Observing, TimeFolding):
    """A component whose network ends in a linear layer for the value of a state."""

    value_layer: Dense

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().check_input_spaces(input_spaces, action_space)
        names = [f"get_values_of_transitions.{name}" for name in ("observations", "next_observations")]
        if names[1] not in input_spaces:
            return
        states, following = (Observations.of(input_spaces[name], self.scope_path).states for name in names)
        if _ranks(states) != _ranks(following):
            raise mismatch("next_observations", f"states with the ranks of {states!r}", repr(following))

    @rlgraph_api
    def get_state_values(self, observations: Any) -> Any:
        """``{"state_values": [B], "nn_outputs"}``, for sequences ``[B, T]``; see `Observations`.

        And ``"internal_states"`` of a recurrent network, after the last step.
        """
        return self._valued(self.features_of(observations))

    @rlgraph_api
    def get_values_of_transitions(self, observations: Any, next_observations: Any) -> Any:
        """Values of transitions, ``[B]``, ``[B, T]`` or ``[T, B]`` each.

        ``{"state_values", "evaluated_state_values", "next_state_values"}``. In an update the first are those that
        train; the others, for targets and advantages, are without dropout and from running statistics (`evaluating`).

        Args:
            observations: before the transitions.
            next_observations: the states that were reached; at the end of an episode its last one. A recurrent network
                values each by a further step after that of `observations`, without the reset that may follow. So other
                parts of it are not used.
        """
        calm = evaluating(self, observations)
        if is_recurrent(self.network):
            given = Observations.of(observations, self.scope_path)
            # All passes are given states, since the build creates the network from the first one.
            states = self._zeros(given.states) if given.internal_states is None else given.internal_states
            begun = given.bundle(internal_states=states)
            calm = begun if calm is observations else given.bundle(internal_states=states, training=None)
            trained, evaluated = self._valued_twice(begun, calm, True)
            reached = Observations.of(next_observations, self.scope_path).states
            one_step = {
                "states": self._fold_time(reached),
                "internal_states": {k: self._fold_time(s) for k, s in evaluated["internal_states"].items()},
            }
            following = self._unfold_time(self._valued(self.features_of(one_step))["state_values"], reached)
        else:
            trained, evaluated = self._valued_twice(observations, calm, None)
            following = self._valued(self.features_of(next_observations))["state_values"]
        return {
            "state_values": trained["state_values"],
            "evaluated_state_values": evaluated["state_values"],
            "next_state_values": following,
        }

    def _valued_twice(self, observations: Any, calm: Any, every_step: bool | None) -> tuple[Any, Any]:
        """In training and in evaluation; once, where these are the same."""
        trained = self._valued(self.features_of(observations, every_step))
        return trained, trained if calm is observations else self._valued(self.features_of(calm, every_step))

    def _valued(self, features: dict[str, Any]) -> dict[str, Any]:
        return {"state_values": self._value(self.value_layer.call(features["nn_outputs"])), **features}

    @graph_fn(space_of="states")
    def _zeros(self, ops: Any, space: Space, states: Any) -> Any:
        """Internal states ``[B, ...]`` for states ``[B, ...]``, ``[B, T, ...]`` or ``[T, B, ...]``."""
        size = ops.shape(leaves_of(states)[0])[space.has_time_rank and space.time_major]
        own = self.internal_states_space
        assert own is not None
        return own.unflatten_sample(
            {path: ops.zeros((size, *box.shape)) for path, box in own.flatten().items()}
        )

    @graph_fn
    def _value(self, ops: Any, values: Any) -> Any:
        """``[B, 1] -> [B]``."""
        return ops.squeeze(values, axis=-1)


def _ranks(space: Space) -> tuple[bool, bool, bool]:
    return bool(space.has_batch_rank), bool(space.has_time_rank), bool(space.time_major)
