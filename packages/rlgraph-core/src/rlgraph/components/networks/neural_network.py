"""Networks of layers."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Self

from rlgraph.components.networks.layer_graph import (
    TRAINING,
    LayerGraph,
    chain,
    layer_graph_of_outputs,
    name_layers,
    the_only_space,
)
from rlgraph.components.networks.layer_graph_specs import layer_graph_of_specs
from rlgraph.core import Component, SpecError, rlgraph_api
from rlgraph.core.component.places import locate


class NeuralNetwork(Component):
    """Layers applied one after the other, or in any order without circles.

    Args:
        layers: layers or specs of them; layers without a scope of their own are named after type and position. With
            `outputs`: a mapping of names to specs of layers with their ``"inputs"`` (see `layer_graph_of_specs`).
        scope: name among its siblings.
        inputs: with `outputs`: the Spaces that the first layers were called with, one, or a list or dict of them if
            the network is given a Tuple or Dict; of specs their names. May be left out if it is one Space.
        outputs: what the network returns: ``Dense(2)(Dense(64)(space))``, or a list or dict of such outputs of layers;
            of specs their names.

    Raises:
        SpecError: no layers, or a spec that is wrong (named by its position).
        AssemblyError: `outputs` that are not made of the inputs, an input that is not used, or layers in a circle.
    """

    def __init__(
        self,
        layers: Sequence[Any] | Mapping[str, Any] | None = None,
        scope: str = "network",
        *,
        inputs: Any = None,
        outputs: Any = None,
        **kwargs: Any,
    ):
        self.graph = _layer_graph(layers, inputs, outputs, scope)
        self.layers: list[Any] = self.graph.layers
        stateful = [layer.scope for layer in self.layers if getattr(layer, "has_state", False)]
        if stateful:
            raise SpecError(
                f"{scope}.layers: {stateful[0]} remembers something of each environment, and a network does not know "
                "them: put it into preprocessing_spec"
            )
        super().__init__(*self.layers, scope=scope, **kwargs)

    @classmethod
    def from_spec(cls, spec: Any, *, path: str = "", **kwargs: Any) -> Self:
        """As `Specifiable.from_spec`; a list is one of layer specs."""
        if isinstance(spec, list | tuple):
            where = path or cls.__name__
            spec = {"layers": [_layer(layer, f"{where}[{i}]", i) for i, layer in enumerate(spec)]}
        return super().from_spec(spec, path=path, **kwargs)

    @rlgraph_api
    def call(self, inputs: Any, training: Any = None) -> Any:
        """The output for `inputs`, of several layers if `outputs` says so; a network of several inputs is given a Tuple
        or Dict of them. `training` is handed to the layers that take it, such as `Dropout`."""
        return self.graph.run(inputs, lambda layer, given: layer.call(**given, **_told(layer, training)))


def call_layer(layer: Any, inputs: Any, training: Any) -> Any:
    """The output of `layer`, which is told of `training` if it asks; for use in API methods."""
    return layer.call(inputs, **_told(layer, training))


def _told(layer: Any, training: Any) -> dict[str, Any]:
    method = layer.api_methods().get("call")
    asks = method is not None and TRAINING in inspect.signature(method).parameters
    return {TRAINING: training} if asks else {}


def sub_network(spec: Any, scope: str, path: str) -> NeuralNetwork:
    """A network inside of another component: an instance as it is, one of a spec under the scope."""
    return NeuralNetwork.from_spec(
        spec, path=path, **({} if isinstance(spec, NeuralNetwork) else {"scope": scope})
    )


def _layer_graph(layers: Any, inputs: Any, outputs: Any, scope: str) -> LayerGraph:
    if outputs is None:
        if isinstance(layers, str) or not isinstance(layers, Sequence) or not layers or inputs is not None:
            raise SpecError(
                f"{scope}.layers: expected a list of layer specs, given {layers!r}"
                + (" and inputs, but no outputs" if inputs is not None else "")
            )
        return chain([_layer(spec, f"{scope}.layers[{i}]", i) for i, spec in enumerate(layers)])
    # Mistakes in who gets what are no values that one could take out of a spec: they are located here.
    where = locate(f"{scope}.outputs").removesuffix(".outputs")
    if layers is None:
        given = the_only_space(outputs, where) if inputs is None else inputs
        graph = layer_graph_of_outputs(given, outputs, where)
        name_layers(graph.layers)
        return graph
    if not isinstance(layers, Mapping):
        raise SpecError(
            f'{scope}.layers: with outputs, expected a mapping of names to layer specs with "inputs", or None if the '
            f"outputs are those of layers, given {layers!r}"
        )
    return layer_graph_of_specs(inputs, layers, outputs, where)


def _layer(spec: Any, path: str, position: int) -> Component:
    if isinstance(spec, dict) and "scope" not in spec:
        kind = spec.get("type", "layer")
        name = kind.__name__.lower() if isinstance(kind, type) else kind
        spec = {**spec, "scope": f"{name}-{position}"}
    return Component.from_spec(spec, path=path)
