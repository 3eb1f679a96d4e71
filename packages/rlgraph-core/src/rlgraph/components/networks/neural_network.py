"""A stack of layers."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Self

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
        """The last layer's output for `inputs`; `training` is handed to the layers that take it, such as `Dropout`."""
        for layer in self.layers:
            inputs = call_layer(layer, inputs, training)
        return inputs


def call_layer(layer: Any, inputs: Any, training: Any) -> Any:
    """The output of `layer`, which is told of `training` if it asks; for use in API methods."""
    method = layer.api_methods().get("call")
    asks = method is not None and "training" in inspect.signature(method).parameters
    return layer.call(inputs, training=training) if asks else layer.call(inputs)


def _layer(spec: Any, path: str, position: int) -> Component:
    if isinstance(spec, dict) and "scope" not in spec:
        kind = spec.get("type", "layer")
        name = kind.__name__.lower() if isinstance(kind, type) else kind
        spec = {**spec, "scope": f"{name}-{position}"}
    return Component.from_spec(spec, path=path)
