"""Preprocessing layers in sequence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from rlgraph.components.networks.layer_chain import state_key
from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer
from rlgraph.core import AssemblyError, Component, SpecError, rlgraph_api
from rlgraph.spaces import Dict, Space, from_spec


class PreprocessorStack(Component):
    """Applies preprocessing layers in sequence, to every leaf of a container state.

    Args:
        layers: `PreprocessLayer` objects or their specs; without layers the inputs are returned.
        scope: name among its siblings.

    Attributes:
        has_state: whether a layer keeps state; then ``preprocess`` needs ``env_indices``.

    Raises:
        SpecError: an invalid spec (named by its position), or a layer that is not a preprocessing layer.
    """

    spec_hint = "write layers as a list, even a single one"

    def __init__(self, layers: Sequence[Any] = (), scope: str = "preprocessor", **kwargs: Any):
        if isinstance(layers, str) or not isinstance(layers, Sequence):
            raise SpecError(f"expected a list of layer specs, given {layers!r}", path=f"{scope}.layers")
        self.layers: list[Any] = [_layer(spec, f"{scope}.layers[{i}]", i) for i, spec in enumerate(layers)]
        self.has_state = any(layer.has_state for layer in self.layers)
        if not self.has_state:
            kwargs["switched_off_apis"] = {
                "reset",
                "preprocess_with_states",
                *kwargs.get("switched_off_apis", ()),
            }
        super().__init__(*self.layers, scope=scope, **kwargs)

    @classmethod
    def from_spec(cls, spec: Any, *, path: str = "", **kwargs: Any) -> Self:
        """As `Specifiable.from_spec`; a list is one of layer specs."""
        if isinstance(spec, list | tuple):
            where = path or cls.__name__
            spec = {"layers": [_layer(layer, f"{where}[{i}]", i) for i, layer in enumerate(spec)]}
        return super().from_spec(spec, path=path, **kwargs)

    def get_preprocessed_space(self, space: Any) -> Space:
        """The output Space for the input Space `space`.

        Raises:
            SpaceError: a layer, named by its scope, does not accept its input Space.
        """
        space = from_spec(space)
        for layer in self.layers:
            space = layer.get_preprocessed_space(space)
        return space

    def get_internal_states_space(self, space: Any) -> Dict | None:
        """The Space of the states of its layers, by layer, for inputs of `space`; None if no layer keeps state."""
        space, spaces = from_spec(space), {}
        for layer in self.layers:
            if layer.has_state:
                spaces[state_key(layer)] = layer.get_internal_states_space(space)
            space = layer.get_preprocessed_space(space)
        return Dict(spaces) if spaces else None

    @rlgraph_api
    def preprocess_with_states(self, inputs: Any, internal_states: Any = None) -> Any:
        """``{"output", "internal_states"}`` of ``inputs [B, ...]``; where states are zero, or None, episodes begin."""
        states = {}
        for layer in self.layers:
            if layer.has_state:
                key = state_key(layer)
                before = None if internal_states is None else internal_states[key]
                result = layer.call_with_states(inputs, before)
                inputs, states[key] = result["output"], result["internal_states"]
            else:
                inputs = layer.call(inputs)
        return {"output": inputs, "internal_states": states}

    @rlgraph_api
    def preprocess(self, inputs: Any, env_indices: Any = None) -> Any:
        """``inputs [B, ...]``, and ``env_indices [B]`` if the stack has state."""
        if self.has_state and env_indices is None:
            raise AssemblyError(
                f"{self.scope_path}.preprocess needs env_indices, since one of its layers keeps state per environment"
            )
        for layer in self.layers:
            inputs = layer.call(inputs, env_indices) if layer.has_state else layer.call(inputs)
        return inputs

    @rlgraph_api
    def reset(self, env_indices: Any) -> Any:
        """Reset the state of the environments ``env_indices [N]``, which begin new episodes."""
        for layer in self.layers:
            if layer.has_state:
                layer.reset(env_indices)


def _layer(spec: Any, path: str, position: int) -> PreprocessLayer:
    if isinstance(spec, dict) and "scope" not in spec:
        kind = spec.get("type", "layer")
        name = kind.__name__.lower() if isinstance(kind, type) else kind
        spec = {**spec, "scope": f"{name}-{position}"}
    return PreprocessLayer.from_spec(spec, path=path)
