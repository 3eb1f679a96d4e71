"""Networks of several inputs and outputs as JSON-able specs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.components.networks.layer_graph import LayerGraph, layer_graph_of_outputs
from rlgraph.core import AssemblyError, Component, LayerOutput, SpecError
from rlgraph.core.errors import nearest


def layer_graph_of_specs(inputs: Any, layers: Mapping[str, Any], outputs: Any, where: str) -> LayerGraph:
    """The calls that a spec describes.

    Args:
        inputs: names of the parts of a Dict that the network is given, or one name for all that it is given.
        layers: name of a call -> the spec of its layer with ``"inputs"``, or ``{"layer": name of another call,
            "inputs": ...}`` to use the layer of that once more.
        outputs: what the network returns; names, in a list or dict if they are several.
        where: the network; named in errors.

    What stands as ``"inputs"`` is a name, a list of names, or a dict of them by the arguments of the layer. A name is
    that of an input or a call; a part of what it stands for is ``"name/key"`` or ``"name/0"``.

    Raises:
        SpecError: a wrong spec of a layer, or no names.
        AssemblyError: a name that there is not, twice or in a circle, a layer that takes other inputs or is not used;
            and as `layer_graph_of_outputs`.
    """
    reader = _Reader(_input_outputs(inputs, where), layers, where)
    found = reader.named(outputs, f"{where}.outputs")
    for name in layers:
        reader.output(name, f"{where}.layers.{name}")
    unused = layers.keys() - reader.asked
    if unused:
        name = min(unused)
        raise AssemblyError(
            f"{where}.layers.{name}: no output is made of it: name it in the inputs of a layer or in outputs, or leave "
            "it out"
        )
    names = [inputs] if isinstance(inputs, str) else inputs
    stand_ins = reader.inputs[names[0]] if isinstance(inputs, str) else {n: reader.inputs[n] for n in names}
    return layer_graph_of_outputs(stand_ins, found, where)


class _Reader:
    """Reads calls by name, each once."""

    def __init__(self, inputs: Mapping[str, LayerOutput], layers: Mapping[str, Any], where: str):
        self.inputs, self.layers, self.where = inputs, layers, where
        #: Names of calls that are asked for by others or as outputs.
        self.asked: set[str] = set()
        self._components: dict[str, Component] = {}
        self._outputs: dict[str, LayerOutput] = {}
        self._open: list[str] = []
        for name in layers:
            if name in inputs or "/" in name:
                raise AssemblyError(
                    f"{where}.layers.{name}: "
                    + ("an input has that name" if name in inputs else "a name of a layer has no '/' in it")
                )

    def named(self, names: Any, where: str) -> Any:
        """`names`, one or a list or dict of them, as outputs."""
        if isinstance(names, Mapping):
            return {key: self.named(name, f"{where}.{key}") for key, name in names.items()}
        if isinstance(names, list | tuple):
            return tuple(self.named(name, f"{where}[{i}]") for i, name in enumerate(names))
        if not isinstance(names, str):
            raise SpecError(f"{where}: expected names of inputs and layers, given {names!r}")
        head, *path = names.split("/")
        output = self.inputs.get(head)
        if output is None:
            self.asked.add(head)
            output = self.output(head, where)
        for key in path:
            output = output[int(key) if key.isdigit() else key]
        return output

    def output(self, name: str, where: str) -> LayerOutput:
        """The output of the call `name`, which `where` asks for."""
        if name not in self.layers:
            raise AssemblyError(
                f"{where}: there is no input or layer {name!r}. {nearest(name, [*self.inputs, *self.layers])}"
            )
        if name in self._open:
            circle = " -> ".join([*self._open[self._open.index(name) :], name])
            raise AssemblyError(f"{where}: a circle of layers, each an input of the one before: {circle}")
        if name not in self._outputs:
            self._open.append(name)
            self._outputs[name] = self._called(name)
            self._open.pop()
        return self._outputs[name]

    def _called(self, name: str) -> LayerOutput:
        where = f"{self.where}.layers.{name}"
        spec = self.layers[name]
        if not isinstance(spec, Mapping) or "inputs" not in spec:
            raise SpecError(f'{where}: expected {{"type": ..., "inputs": names}}, given {spec!r}')
        given = self.named(spec["inputs"], f"{where}.inputs")
        layer: Any = self._component(name, f"{self.where}.layers")
        args = given if isinstance(given, tuple) else () if isinstance(given, dict) else (given,)
        try:
            return layer(*args, **(given if isinstance(given, dict) else {}))
        except AssemblyError as error:
            raise AssemblyError(f"{where}.inputs: {error}") from None

    def _component(self, name: str, where: str) -> Component:
        spec = {key: value for key, value in self.layers[name].items() if key != "inputs"}
        if set(spec) == {"layer"}:
            first = spec["layer"]
            if first not in self.layers or "layer" in self.layers[first]:
                owners = [n for n, s in self.layers.items() if isinstance(s, Mapping) and "layer" not in s]
                raise AssemblyError(
                    f"{where}.{name}.layer: expected a layer with a type, given {first!r}. "
                    f"{nearest(str(first), owners)}"
                )
            return self._component(first, where)
        if name not in self._components:
            self._components[name] = Component.from_spec({"scope": name, **spec}, path=f"{where}.{name}")
        return self._components[name]


def _input_outputs(inputs: Any, where: str) -> dict[str, LayerOutput]:
    if isinstance(inputs, str) and inputs:
        return {inputs: LayerOutput(None)}
    names = inputs if isinstance(inputs, list | tuple) else []
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
        raise SpecError(
            f"{where}.inputs: expected a name for what the network is given, or a list of different keys of the Dict "
            f"that it is given, given {inputs!r}"
        )
    return {name: LayerOutput(None, (name,)) for name in names}
