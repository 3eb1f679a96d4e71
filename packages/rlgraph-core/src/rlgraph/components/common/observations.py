"""The observation bundle, and the components that are given it.

An algorithm passes what was observed on whole, to policies, value functions and explorations, and they unpack it here.
So masks and memory reach every algorithm without a word in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from rlgraph.components.layers.training_layers import has_only_noise
from rlgraph.components.networks.layer_chain import call_layer, is_recurrent, state_key
from rlgraph.core import AssemblyError, Component, graph_fn
from rlgraph.core.errors import nearest, no_part
from rlgraph.spaces import Dict


@dataclass(frozen=True)
class Observations:
    """What was observed; symbols in wiring, Spaces in checks.

    Attributes:
        states: of the environment, ``[B, ...]``, one step; with a time rank, in either order, sequences.
        action_mask: which of categorical actions are possible, bool ``[B, ..., A]``, or a container; None: all.
        internal_states: of recurrent networks, preprocessing and noise before the first step, a dict by component: that
            with the scope "value-function" has ``internal_states["value_function"]``, and so have its copies. None:
            zeros, with which an episode begins.
        resets: bool, one per step, where an episode begins: internal states are zeroed before these steps; None:
            nowhere.
        sequence_length: int [B], number of valid steps of each sequence; None: all.
        sequences: ``states [T * B, ...]`` are the steps of B sequences, step by step: a dict of these ``states``, of
            ``resets [B, T]`` and ``internal_states [B, ...]``, and as ``burn_in`` a dict of the ``states [K * B, ...]``
            and ``resets [B, K]`` of the steps before them, through which no gradient flows. A recurrent network is
            unrolled over them; its outputs are those of the items.
        after: int [T * B], with `sequences`: `states` are those that these steps led to, each one further step of a
            recurrent network.
        training: for the layers that accept it, such as `Dropout` and `NoisyDense`. True: a loss of these states is
            differentiated; None: acting, targets, and whatever else is only evaluated; False: greedy actions, without
            noise of layers. Frozen layers, such as those of target networks, are given None for True.
    """

    states: Any
    action_mask: Any = None
    internal_states: Any = None
    resets: Any = None
    sequence_length: Any = None
    sequences: Any = None
    after: Any = None
    training: bool | None = None

    @classmethod
    def of(cls, observations: Any, where: str) -> Self:
        """Unpack a dict with the key ``"states"``, or states alone.

        Args:
            observations: of an API method, or its Space.
            where: the component's scope path, for messages.

        Raises:
            AssemblyError: the dict has an unknown key.
        """
        if not isinstance(observations, Mapping) or "states" not in observations:
            return cls(observations)
        for key in observations:
            if key not in PARTS:
                raise AssemblyError(
                    f"{where}: observations have the unknown part {key!r}. {nearest(key, PARTS)} States that are a "
                    'Dict with a part "states" must be given inside a dict: {"states": states}'
                )
        return cls(**observations)

    def states_of(self, key: str, where: str) -> Any:
        """The internal states of the component with the states key `key`; None: zeros.

        Raises:
            AssemblyError: there are internal states, but not of this component.
        """
        states = self.internal_states
        if isinstance(states, Mapping) and key not in states:
            raise AssemblyError(
                f"{where}: internal_states of the observations: {no_part(key, states)}. They are a dict by component: "
                "one with states has them under its scope, made an identifier"
            )
        return None if states is None else states[key]

    def bundle(self, **others: Any) -> dict[str, Any]:
        """The dict of the parts that are given; `others` replace parts."""
        return {name: part for name in PARTS if (part := others.get(name, getattr(self, name))) is not None}


def evaluating(part: Component, observations: Any) -> Any:
    """Observations of an update for values of `part` that no derivative goes through, such as targets.

    Dropout is off, and running statistics are used. They are `observations` where nothing else than noise tells both
    apart: one draw of it then is in the values that train, and in their targets.
    """
    if Observations.of(observations, part.scope_path).training is not True or has_only_noise(part):
        return observations
    return {**observations, "training": None}


PARTS = tuple(field.name for field in fields(Observations))


class Observing(Component):
    """A component with a network that is given observations.

    Attributes:
        states_key: the key of its internal states: its scope as an identifier. A copy, such as a target network, has
            those of its original.
    """

    network: Any

    @property
    def observing_network(self) -> Any:
        """The network that is given observations; it may be recurrent."""
        return self.network

    def __init__(self, *sub_components: Component, **kwargs: Any):
        super().__init__(*sub_components, **kwargs)
        self.states_key = state_key(self)

    @property
    def internal_states_space(self) -> Dict | None:
        """The Space of the internal states, as in observations and results: a Dict by component; None: it has none."""
        space = self.observing_network.internal_states_space
        return None if space is None else Dict({self.states_key: space})

    def training_of(self, observations: Any) -> Any:
        """The `training` of observations, for the layers after the network; for use in API methods."""
        return Observations.of(observations, self.scope_path).training

    def features_of(self, observations: Any, every_step: bool | None = None) -> dict[str, Any]:
        """``{"nn_outputs"}`` of the network, and ``"internal_states"`` if it is recurrent; for use in API methods.

        They are those after the last step or, with `every_step`, after every step.
        """
        given = Observations.of(observations, self.scope_path)
        if not is_recurrent(self.observing_network):
            return {"nn_outputs": call_layer(self.observing_network, given.states, training=given.training)}
        if given.sequences is not None:
            return {"nn_outputs": self._features_of_sequences(given)}
        result = self.observing_network.call_with_states(
            given.states,
            given.states_of(self.states_key, self.scope_path),
            given.sequence_length,
            given.resets,
            given.training,
            every_step,
        )
        return {
            "nn_outputs": result["output"],
            "internal_states": {self.states_key: result["internal_states"]},
        }

    def _features_of_sequences(self, given: Observations) -> Any:
        """The network's outputs for the steps of sequences, or after them, ``[T * B, ...]``."""
        steps = given.sequences
        states = Observations(None, internal_states=steps["internal_states"]).states_of(
            self.states_key, self.scope_path
        )
        if "burn_in" in steps:
            training = None if given.training is True else given.training
            after = self._unrolled(steps["burn_in"], states, training, None)
            states = self._without_gradient(after["internal_states"])
        result = self._unrolled(steps, states, given.training, True)
        if given.after is None:
            return self._as_items(result["output"])
        states = self._items_at(result["internal_states"], given.after)
        result = self.observing_network.call_with_states(given.states, states, training=given.training)
        return result["output"]

    def _unrolled(
        self, steps: Mapping[str, Any], states: Any, training: bool | None, every_step: bool | None
    ) -> Any:
        inputs, resets = self._as_steps(steps["states"], steps["resets"]), self._time_first(steps["resets"])
        return self.observing_network.call_with_states(inputs, states, None, resets, training, every_step)

    @graph_fn(flatten_ops={"items"}, split_ops=True)
    def _as_steps(self, ops: Any, items: Any, resets: Any) -> Any:
        """``[T * B, ...], [B, T] -> [T, B, ...]``."""
        return ops.reshape(items, (resets.shape[1], ops.shape(resets)[0], *items.shape[1:]))

    @graph_fn
    def _time_first(self, ops: Any, values: Any) -> Any:
        """``[B, T] -> [T, B]``."""
        return ops.moveaxis(values, 0, 1)

    @graph_fn(flatten_ops=True, split_ops=True)
    def _without_gradient(self, ops: Any, states: Any) -> Any:
        return ops.stop_gradient(states)

    @graph_fn
    def _as_items(self, ops: Any, outputs: Any) -> Any:
        """``[T, B, ...] -> [T * B, ...]``."""
        return ops.reshape(outputs, (-1, *outputs.shape[2:]))

    @graph_fn(flatten_ops={"states"}, split_ops=True)
    def _items_at(self, ops: Any, states: Any, places: Any) -> Any:
        """``states [T, B, ...], places [I] -> [I, ...]``."""
        return ops.take(ops.reshape(states, (-1, *states.shape[2:])), places, axis=0)
