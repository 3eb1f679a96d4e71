"""A stack of layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlgraph.core import Component, SpecError, rlgraph_api


class NeuralNetwork(Component):
    """Layers applied one after the other.

    Args:
        layers: layers or specs of them; layers without a scope of their own are named after type and position.
        scope: name among its siblings.

    Raises:
        SpecError: no layers, or a spec that is wrong (named by its position).
    """

    def __init__(self, layers: Sequence[Any], scope: str = "network", **kwargs: Any):
        if isinstance(layers, str) or not isinstance(layers, Sequence) or not layers:
            raise SpecError(f"{scope}.layers: expected a list of layer specs, given {layers!r}")
        self.layers: list[Any] = [_layer(spec, f"{scope}.layers[{i}]", i) for i, spec in enumerate(layers)]
        super().__init__(*self.layers, scope=scope, **kwargs)

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        """The last layer's output for `inputs`."""
        for layer in self.layers:
            inputs = layer.call(inputs)
        return inputs


def _layer(spec: Any, path: str, position: int) -> Component:
    if isinstance(spec, dict) and "scope" not in spec:
        kind = spec.get("type", "layer")
        name = kind.__name__.lower() if isinstance(kind, type) else kind
        spec = {**spec, "scope": f"{name}-{position}"}
    return Component.from_spec(spec, path=path)


def network_from_spec(spec: Any, path: str, scope: str = "network") -> NeuralNetwork:
    """A network from an instance, a list of layer specs, or a full spec."""
    if isinstance(spec, list | tuple):
        return NeuralNetwork(list(spec), scope=scope)
    return NeuralNetwork.from_spec(spec, path=path)
