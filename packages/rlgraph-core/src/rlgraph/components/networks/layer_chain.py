"""Chains of layers, and the internal states of their recurrent layers."""

from __future__ import annotations

import inspect
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from rlgraph.components.common.time_folding import TimeFolding
from rlgraph.core import AssemblyError, SpecError, rlgraph_api
from rlgraph.core.graph.trace import shared_calls
from rlgraph.spaces import Dict, Space, SpaceError
from rlgraph.spaces.errors import mismatch


class LayerChain(TimeFolding):
    """A component made of layers that carries the internal states of its recurrent layers.

    A subclass keeps its layers in `layers` and processes an input in `wire`. A layer is recurrent if it has an
    `internal_states_space`: an `LSTM`, a `GRU`, a `MultiLSTM`, or a component that holds one. Its scope is the key of
    its states: those of ``"lstm-1"`` are ``internal_states["lstm_1"]``.
    """

    passes_training_on = True

    layers: Sequence[Any]

    @property
    def internal_states_space(self) -> Dict | None:
        """The Space of the internal states, a Dict by layers; None if no layer is recurrent."""
        return states_space(self.layers)

    @abstractmethod
    def wire(
        self,
        inputs: Any,
        internal_states: Any,
        sequence_length: Any,
        resets: Any,
        training: Any,
        every_step: Any,
    ) -> tuple[Any, dict[str, Any]]:
        """The output, and the states of the recurrent layers as of `call_with_states`; for use in API methods."""

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
            inputs: inputs of the first layer; without time rank they are one step.
            internal_states: of the recurrent layers before the first step, a Dict as `internal_states_space`; None:
                zeros.
            sequence_length: int [B], number of valid steps of each sequence for the recurrent layers; None: all.
            resets: bool, one per step: where an episode begins; the internal states are zeroed before that step.
            training: passed to the layers that accept it, such as `Dropout`.
        """
        return self._run(inputs, internal_states, sequence_length, resets, training, None)[0]

    @rlgraph_api
    def call_with_states(
        self,
        inputs: Any,
        internal_states: Any = None,
        sequence_length: Any = None,
        resets: Any = None,
        training: Any = None,
        every_step: Any = None,
    ) -> Any:
        """``{"output", "internal_states"}``: as `call`, and the states after the last step.

        Without recurrent layers the key ``"internal_states"`` is missing. With ``every_step=True`` the states are
        those after every step, with the ranks of the inputs.
        """
        output, states = self._run(inputs, internal_states, sequence_length, resets, training, every_step)
        return {"output": output, "internal_states": states} if states else {"output": output}

    def _run(self, inputs: Any, internal_states: Any, *others: Any) -> tuple[Any, dict[str, Any]]:
        if isinstance(internal_states, bool):
            raise AssemblyError(
                f"{self.scope_path}: internal_states: expected the states of recurrent layers, given "
                f"{internal_states}: pass training by name, call(inputs, training={internal_states})"
            )
        return self.wire(inputs, internal_states, *others)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        own = self.internal_states_space
        given = {
            name: s for name, s in input_spaces.items() if name.endswith("internal_states") and s is not None
        }
        for argument, space in given.items():
            check_states(argument, space, own)


def run_layers(
    layers: Sequence[Any],
    inputs: Any,
    internal_states: Any,
    sequence_length: Any = None,
    resets: Any = None,
    training: Any = None,
    every_step: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """The output of the last of `layers`, and the states of the recurrent ones; for use in API methods."""
    states = {}
    for layer in layers:
        if not is_recurrent(layer):
            inputs = call_layer(layer, inputs, training=training)
            continue
        key = state_key(layer)
        given = None if internal_states is None else internal_states[key]
        if "call_with_states" in layer.api_methods():
            result = layer.call_with_states(inputs, given, sequence_length, resets, training, every_step)
            inputs, states[key] = result["output"], result["internal_states"]
        else:
            inputs, states[key] = layer.call(inputs, given, sequence_length, resets, every_step)
    return inputs, states


def call_layer(layer: Any, *inputs: Any, training: Any, method: str = "call", **named: Any) -> Any:
    """The output of `layer`, with `training` if it accepts it; for use in API methods.

    A frozen layer never trains. In an update, equal calls of one that trains are one: see `shared_calls`.
    """
    function = layer.api_methods().get(method)
    if function is not None and "training" in inspect.signature(function).parameters:
        named["training"] = None if training is True and not layer.trainable else training
    with shared_calls(named.get("training") is True):
        return getattr(layer, method)(*inputs, **named)


def is_recurrent(layer: Any) -> bool:
    """Whether it has internal states as input and output."""
    return getattr(layer, "internal_states_space", None) is not None


def state_key(layer: Any) -> str:
    """The key of a layer's states: its scope as an identifier."""
    return key_of(layer.scope)


def key_of(name: str) -> str:
    """The key of the states of what has this name, a scope or a path: the name as an identifier."""
    key = re.sub(r"\W", "_", name)
    return f"_{key}" if key[0].isdigit() else key


def states_space(layers: Sequence[Any]) -> Dict | None:
    """The Space of the states of the recurrent `layers`; None if no layer is recurrent."""
    spaces = {state_key(layer): layer.internal_states_space for layer in layers if is_recurrent(layer)}
    return Dict(spaces) if spaces else None


def check_states(argument: str, given: Any, own: Dict | None) -> None:
    """Raise `SpaceError` if the Space `given` of an argument has not the parts of the states `own`."""
    if own is None:
        raise SpaceError(f"{argument}: expected no internal_states, since no layer keeps any")
    if not isinstance(given, Dict) or list(given.flatten()) != list(own.flatten()):
        raise mismatch(argument, repr(own), repr(given))


def check_state_keys(layers: Sequence[Any], where: str) -> None:
    """Raise `SpecError` if the states of two recurrent layers would have the same key."""
    check_keys([layer.scope for layer in filter(is_recurrent, layers)], where)


def check_keys(names: Sequence[str], where: str) -> None:
    """Raise `SpecError` if `key_of` two names is the same."""
    named: dict[str, str] = {}
    for name in names:
        other = named.setdefault(key_of(name), name)
        if other != name:
            raise SpecError(
                f"the internal states of {other!r} and {name!r} would both have the key {key_of(name)!r}: "
                "rename one of them",
                path=where,
            )
