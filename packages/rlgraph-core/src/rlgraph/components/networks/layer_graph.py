"""The graph of layer calls in a network, as plain data.

A list of layers is a chain of calls; `layer_graph_of_outputs` follows outputs back to the Spaces that they are made of.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from rlgraph.components.networks.layer_chain import is_recurrent
from rlgraph.core import AssemblyError, Component, LayerOutput
from rlgraph.core.component import LayerCall
from rlgraph.core.ops import leaves_of, map_nested
from rlgraph.spaces import Space, Tuple

#: Arguments of layers that a network passes itself.
HANDED = frozenset({"internal_states", "resets", "training"})

#: ``f(layer, arguments)``: the output of a layer.
RunLayer = Callable[[Any, Mapping[str, Any]], Any]


@dataclass(frozen=True)
class LayerGraph:
    """Calls of layers in execution order.

    Attributes:
        calls: each with arguments made of outputs of earlier ones and of the network's input; one and the same layer
            may be called several times.
        outputs: the network's return value: an output of a call, or dict and tuple literals of outputs.
    """

    calls: tuple[LayerCall, ...]
    outputs: Any

    @property
    def layers(self) -> list[Any]:
        """The layers, each once, in the order of their first calls."""
        return list({id(call.layer): call.layer for call in self.calls}.values())

    def run(self, inputs: Any, run_layer: RunLayer) -> Any:
        """The outputs for `inputs`, a symbol; for use in API methods."""
        results: dict[int, Any] = {}

        def value_of(output: LayerOutput) -> Any:
            value = inputs if output.call is None else results[id(output.call)]
            for key in output.path:
                value = value[key]
            return value

        for call in self.calls:
            arguments = {name: map_nested(value_of, value) for name, value in call.arguments.items()}
            results[id(call)] = run_layer(call.layer, arguments)
        return map_nested(value_of, self.outputs)


def chain(layers: Sequence[Component]) -> LayerGraph:
    """A chain of layers, each with its first argument only."""
    calls, output = [], LayerOutput(None)
    for layer in layers:
        calls.append(LayerCall(layer, {_first_argument(layer): output}))
        output = LayerOutput(calls[-1])
    return LayerGraph(tuple(calls), output)


def layer_graph_of_outputs(inputs: Any, outputs: Any, where: str) -> LayerGraph:
    """The calls that `outputs` need, in topological order.

    Args:
        inputs: the network's inputs: a Space, a list or dict of Spaces, or `LayerOutput` without a call.
        outputs: outputs of layers; one, or dict, list and tuple literals of them.
        where: the network; named in errors.

    Raises:
        AssemblyError: an output is not a layer's or depends on a Space that is not an input, or an input is unused.
    """
    search = _Search(_places(inputs, where), where)
    found = map_nested(partial(search.resolved, what=f"{where}.outputs"), outputs)
    if not search.calls:
        raise AssemblyError(f"{where}.outputs: expected outputs of layers, given {outputs!r}")
    search.check_all_used(inputs)
    return LayerGraph(tuple(search.calls), found)


class _Search:
    """Traces outputs back to inputs and records the calls in topological order."""

    def __init__(self, places: Mapping[int, tuple[str | int, ...]], where: str):
        self.places, self.where = places, where
        self.calls: list[LayerCall] = []
        self.used: set[tuple[str | int, ...]] = set()
        self._resolved: dict[int, LayerCall] = {}

    def resolved(self, leaf: Any, what: str) -> LayerOutput:
        """`leaf`, a Space or an output, as an output whose calls are recorded."""
        if isinstance(leaf, Space):
            if id(leaf) not in self.places:
                raise AssemblyError(
                    f"{what}: {leaf!r} is not an input of {self.where}: pass to inputs= the very object that the "
                    "layers are called with (equal Spaces are different inputs)"
                )
            leaf = LayerOutput(None, self.places[id(leaf)])
        if not isinstance(leaf, LayerOutput):
            raise AssemblyError(
                f"{what}: expected the output of a layer, such as Dense(2)(space), given {type(leaf).__name__} {leaf!r}"
            )
        if leaf.call is None:
            self.used.add(leaf.path)
            return leaf
        return LayerOutput(self._noted(leaf.call), leaf.path)

    def _noted(self, call: LayerCall) -> LayerCall:
        if id(call) not in self._resolved:
            layer = call.layer
            what = f"{self.where}: {layer.scope}"
            self._check_handed(call, what)
            arguments = {
                name: map_nested(partial(self.resolved, what=f"{what}, argument {name}"), value)
                for name, value in call.arguments.items()
            }
            self._resolved[id(call)] = LayerCall(layer, arguments)
            self.calls.append(self._resolved[id(call)])
        return self._resolved[id(call)]

    def _check_handed(self, call: LayerCall, what: str) -> None:
        """Raise `AssemblyError` for inputs that the network passes itself, or states that it cannot carry."""
        first = _first_argument(call.layer)
        for name in call.arguments.keys() & HANDED - {first}:
            raise AssemblyError(f"{what} is given {name!r} as an input: the network passes it itself")
        if not is_recurrent(call.layer):
            return
        if set(call.arguments) != {first}:
            raise AssemblyError(
                f"{what} is recurrent and given {', '.join(call.arguments)}: it may be given only {first!r}"
            )
        if any(call.layer is other.layer for other in self.calls):
            raise AssemblyError(
                f"{what} is recurrent and called twice, and has one set of internal states: make a layer for each call"
            )

    def check_all_used(self, inputs: Any) -> None:
        """Raise `AssemblyError` for an unused input. For a container Space one used part is enough."""
        for path in _input_paths(inputs):
            if not any(used[: len(path)] == path for used in self.used):
                name = "".join(f"[{key!r}]" for key in path)
                raise AssemblyError(
                    f"{self.where}.inputs{name}: no output depends on it: pass it to a layer whose output is used, or "
                    "remove it"
                )


def _input_paths(inputs: Any) -> list[tuple[str | int, ...]]:
    """The paths of the inputs in the network's argument; a Space is one input."""
    if isinstance(inputs, Space | LayerOutput):
        return [()]
    items = inputs.items() if isinstance(inputs, Mapping) else enumerate(inputs)
    return [(key, *path) for key, item in items for path in _input_paths(item)]


def the_only_space(outputs: Any, where: str) -> Space:
    """The only Space on which `outputs` depend.

    Raises:
        AssemblyError: they depend on several Spaces, or none.
    """
    found: dict[int, Space] = {}

    def visit(value: Any) -> None:
        for leaf in leaves_of(value):
            if isinstance(leaf, Space):
                found[id(leaf)] = leaf
            elif isinstance(leaf, LayerOutput) and leaf.call is not None:
                for argument in leaf.call.arguments.values():
                    visit(argument)

    visit(outputs)
    if len(found) != 1:
        raise AssemblyError(
            f"{where}: the outputs depend on {len(found)} Spaces, so inputs= must list the network's inputs: "
            f"{list(found.values())}"
        )
    (space,) = found.values()
    return space


def _places(inputs: Any, where: str) -> dict[int, tuple[str | int, ...]]:
    """The path of each Space, and of each part of a container Space, in the network's argument; by identity."""
    places: dict[int, tuple[str | int, ...]] = {}

    def visit(value: Any, path: tuple[str | int, ...]) -> None:
        if isinstance(value, Space):
            if id(value) in places:
                raise AssemblyError(
                    f"{where}.inputs: duplicate Space {value!r}; make a separate Space for each input"
                )
            places[id(value)] = path
        if isinstance(value, Mapping):
            items = list(value.items())
        elif isinstance(value, list | tuple | Tuple):
            items = list(enumerate(value))
        elif isinstance(value, Space | LayerOutput):
            items = []
        else:
            raise AssemblyError(
                f"{where}.inputs: expected Spaces, given {type(value).__name__} {value!r}: the objects that the layers "
                "are called with"
            )
        for key, item in items:
            visit(item, (*path, key))

    visit(inputs, ())
    return places


def _first_argument(layer: Component) -> str:
    method = layer.api_methods().get("call")
    names = [] if method is None else list(inspect.signature(method).parameters)[1:]
    return names[0] if names else "inputs"


def name_layers(layers: Sequence[Component]) -> None:
    """Number the layers without an own scope, as in a list of specs: ``dense-0``.

    A layer shared with another network keeps its number.
    """
    taken = {layer.scope for layer in layers}
    for position, layer in enumerate(layers):
        default = inspect.signature(type(layer).__init__).parameters.get("scope")
        if default is not None and layer.scope == default.default:
            number = next(
                n for n in range(position, position + len(layers) + 1) if f"{layer.scope}-{n}" not in taken
            )
            layer.scope = layer.scope_path = f"{layer.scope}-{number}"
            taken.add(layer.scope)
