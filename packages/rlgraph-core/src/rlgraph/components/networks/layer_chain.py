"""Layers one after the other, and the internal states of those among them that are recurrent."""

from __future__ import annotations

import inspect
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from rlgraph.components.common.time_folding import TimeFolding
from rlgraph.core import AssemblyError, SpecError, rlgraph_api
from rlgraph.spaces import Dict, Space, SpaceError
from rlgraph.spaces.errors import mismatch


class LayerChain(TimeFolding):
    """A component made of layers, which carries the internal states of the recurrent ones among them.

    A sub-class keeps its layers in `layers` and says in `wire` what becomes of an input. A layer is recurrent if it has
    an `internal_states_space`: an `LSTM`, a `GRU`, a `MultiLSTM`, or something that holds one. Its states go by its
    scope, as a name: those of ``"lstm-1"`` are ``internal_states["lstm_1"]``.
    """

    layers: Sequence[Any]

    @property
    def internal_states_space(self) -> Dict | None:
        """The Space of the internal states, a Dict by layers; None if no layer is recurrent."""
        return states_space(self.layers)

    @abstractmethod
    def wire(
        self, inputs: Any, internal_states: Any, sequence_length: Any, resets: Any, training: Any
    ) -> tuple[Any, dict[str, Any]]:
        """The output, and the states of the recurrent layers behind the last step; for use in API methods."""

    @rlgraph_api
    def call(
        self,
        inputs: Any,
        internal_states: Any = None,
        sequence_length: Any = None,
        resets: Any = None,
        training: Any = None,
    ) -> Any:
        """The output for `inputs`, ``[B, ...]``, or of sequences ``[B, T, ...]`` or ``[T, B, ...]``.

        Args:
            inputs: what goes into the first layer; without time rank it is one step.
            internal_states: of the recurrent layers ahead of the first step, a Dict as `internal_states_space`; None:
                zeros.
            sequence_length: int [B], how many steps of each sequence count for the recurrent layers; None: all.
            resets: bool, one per step: where an episode begins, ahead of which the internal states become zero.
            training: handed to the layers that take it, such as `Dropout`.
        """
        return self._run(inputs, internal_states, sequence_length, resets, training)[0]

    @rlgraph_api
    def call_with_states(
        self,
        inputs: Any,
        internal_states: Any = None,
        sequence_length: Any = None,
        resets: Any = None,
        training: Any = None,
    ) -> Any:
        """``{"output", "internal_states"}``: as `call`, and the states behind the last step.

        Without recurrent layers there are no states, and no such key.
        """
        output, states = self._run(inputs, internal_states, sequence_length, resets, training)
        return {"output": output, "internal_states": states} if states else {"output": output}

    def _run(self, inputs: Any, internal_states: Any, *others: Any) -> tuple[Any, dict[str, Any]]:
        if isinstance(internal_states, bool):
            raise AssemblyError(
                f"{self.scope_path}: internal_states: expected the states of recurrent layers, given "
                f"{internal_states}: training is an argument by name, call(inputs, training={internal_states})"
            )
        return self.wire(inputs, internal_states, *others)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        own = self.internal_states_space
        given = {
            name: s for name, s in input_spaces.items() if name.endswith("internal_states") and s is not None
        }
        for argument, space in given.items():
            if own is None:
                raise SpaceError(
                    f"{argument}: internal_states are given, and there is no recurrent layer that would take them"
                )
            if not isinstance(space, Dict) or list(space.flatten()) != list(own.flatten()):
                raise mismatch(argument, repr(own), repr(space))


def run_layers(
    layers: Sequence[Any],
    inputs: Any,
    internal_states: Any,
    sequence_length: Any = None,
    resets: Any = None,
    training: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """What the last of `layers` puts out, and the states of the recurrent ones; for use in API methods."""
    states = {}
    for layer in layers:
        if not is_recurrent(layer):
            inputs = call_layer(layer, inputs, training=training)
            continue
        key = state_key(layer)
        given = None if internal_states is None else internal_states[key]
        if "call_with_states" in layer.api_methods():
            result = layer.call_with_states(inputs, given, sequence_length, resets, training)
            inputs, states[key] = result["output"], result["internal_states"]
        else:
            inputs, states[key] = layer.call(inputs, given, sequence_length, resets)
    return inputs, states


def features_of(
    network: Any, inputs: Any, internal_states: Any, sequence_length: Any, resets: Any
) -> dict[str, Any]:
    """``{"nn_outputs"}`` of a network, and ``"internal_states"`` if it is recurrent; for use in API methods.

    Without recurrent layers there is nothing that lengths and resets would change.
    """
    if not is_recurrent(network):  # states are handed on to be refused
        return {"nn_outputs": network.call(inputs, internal_states)}
    result = network.call_with_states(inputs, internal_states, sequence_length, resets)
    return {"nn_outputs": result["output"], "internal_states": result["internal_states"]}


def call_layer(layer: Any, *inputs: Any, training: Any, **named: Any) -> Any:
    """The output of `layer`, which is told of `training` if it asks; for use in API methods."""
    method = layer.api_methods().get("call")
    if method is not None and "training" in inspect.signature(method).parameters:
        named["training"] = training
    return layer.call(*inputs, **named)


def is_recurrent(layer: Any) -> bool:
    """Whether it has internal states that go in and come out."""
    return getattr(layer, "internal_states_space", None) is not None


def state_key(layer: Any) -> str:
    """What the states of a layer are called: its scope, made a name."""
    name = re.sub(r"\W", "_", layer.scope)
    return f"_{name}" if name[0].isdigit() else name


def states_space(layers: Sequence[Any]) -> Dict | None:
    """The Space of the states of the recurrent ones among `layers`; None if there is none."""
    spaces = {state_key(layer): layer.internal_states_space for layer in layers if is_recurrent(layer)}
    return Dict(spaces) if spaces else None


def check_state_keys(layers: Sequence[Any], where: str) -> None:
    """Raise `SpecError` if the states of two recurrent layers would go by one name."""
    scopes: dict[str, str] = {}
    for layer in filter(is_recurrent, layers):
        other = scopes.setdefault(state_key(layer), layer.scope)
        if other != layer.scope:
            raise SpecError(
                f"{where}: the internal states of {other!r} and {layer.scope!r} would both go by the name "
                f"{state_key(layer)!r}: give one of them another scope"
            )
