"""Preprocessing layers, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer
from rlgraph.core import AssemblyError, Component, SpecError, rlgraph_api
from rlgraph.spaces import Space, from_spec


class PreprocessorStack(Component):
    """Preprocessing layers applied one after the other, to every leaf of a container state alike.

    Args:
        layers: `PreprocessLayer` objects or specs of them; none: what comes in goes out.
        scope: name among its siblings.

    Attributes:
        has_state: whether a layer remembers what it was given; then ``preprocess`` needs ``env_indices``.

    Raises:
        SpecError: a spec that is wrong (named by its position), or a layer that does no preprocessing.
    """

    spec_hint = "layers stand in a list, a single one too"

    def __init__(self, layers: Sequence[Any] = (), scope: str = "preprocessor", **kwargs: Any):
        if isinstance(layers, str) or not isinstance(layers, Sequence):
            raise SpecError(f"{scope}.layers: expected a list of layer specs, given {layers!r}")
        self.layers: list[Any] = [_layer(spec, f"{scope}.layers[{i}]", i) for i, spec in enumerate(layers)]
        self.has_state = any(layer.has_state for layer in self.layers)
        if not self.has_state:
            kwargs["switched_off_apis"] = {"reset", *kwargs.get("switched_off_apis", ())}
        super().__init__(*self.layers, scope=scope, **kwargs)

    @classmethod
    def from_spec(cls, spec: Any, *, path: str = "", **kwargs: Any) -> Self:
        """As `Specifiable.from_spec`; a list is one of layer specs."""
        if isinstance(spec, list | tuple):
            where = path or cls.__name__
            spec = {"layers": [_layer(layer, f"{where}[{i}]", i) for i, layer in enumerate(spec)]}
        return super().from_spec(spec, path=path, **kwargs)

    def get_preprocessed_space(self, space: Any) -> Space:
        """The Space of what comes out if `space` goes in.

        Raises:
            SpaceError: a layer cannot take the Space it gets; named with its scope.
        """
        space = from_spec(space)
        for layer in self.layers:
            space = layer.get_preprocessed_space(space)
        return space

    @rlgraph_api
    def preprocess(self, inputs: Any, env_indices: Any = None) -> Any:
        """``inputs [B, ...]``, and ``env_indices [B]`` if the stack has state."""
        if self.has_state and env_indices is None:
            raise AssemblyError(
                f"{self.scope_path}.preprocess needs env_indices: a layer of it remembers something of each environment"
            )
        for layer in self.layers:
            inputs = layer.call(inputs, env_indices) if layer.has_state else layer.call(inputs)
        return inputs

    @rlgraph_api
    def reset(self, env_indices: Any) -> Any:
        """The environments ``env_indices [N]`` begin new episodes."""
        for layer in self.layers:
            if layer.has_state:
                layer.reset(env_indices)


def _layer(spec: Any, path: str, position: int) -> PreprocessLayer:
    if isinstance(spec, dict) and "scope" not in spec:
        kind = spec.get("type", "layer")
        name = kind.__name__.lower() if isinstance(kind, type) else kind
        spec = {**spec, "scope": f"{name}-{position}"}
    return PreprocessLayer.from_spec(spec, path=path)
