"""Preprocessing layers in sequence."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

from rlgraph.components.networks.layer_chain import check_keys, check_states, key_of
from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer
from rlgraph.core import Component, SpecError, rlgraph_api
from rlgraph.core.specs.spec_paths import record_form
from rlgraph.spaces import Dict, Space, from_spec


class Preprocessor(Component):
    """Applies layers or stacks of them, and carries their states.

    Args:
        parts: names and the layers or stacks; a name made an identifier is the key of the part's states.

    Attributes:
        has_state: whether a layer keeps state.
        learns: whether a layer learns.
    """

    #: The API methods of a part, with and without learning.
    part_methods: ClassVar[tuple[str, str]]

    def __init__(self, parts: Iterable[tuple[str, Any]], scope: str, **kwargs: Any):
        self.parts = list(parts)
        self.has_state = any(part.has_state for _, part in self.parts)
        self.learns = any(part.learns for _, part in self.parts)
        check_keys([name for name, part in self.parts if part.has_state], scope)
        if not self.learns:
            kwargs["switched_off_apis"] = {"preprocess_frozen", *kwargs.get("switched_off_apis", ())}
        super().__init__(*(part for _, part in self.parts), scope=scope, **kwargs)

    @abstractmethod
    def get_preprocessed_space(self, space: Any) -> Space:
        """The output Space for the input Space `space`."""

    @abstractmethod
    def spaces_of_parts(self, space: Space) -> Iterable[tuple[str, Any, Space]]:
        """The name of each part, the part, and the Space of its inputs, for inputs of `space`."""

    @abstractmethod
    def wire(self, inputs: Any, run: Any) -> Any:
        """The output for `inputs`, by ``run(name, part, inputs)`` of the parts; for use in API methods."""

    def get_internal_states_space(self, space: Any) -> Dict | None:
        """The Space of the states, with a batch rank, by part, for inputs of `space`; None: nothing keeps state."""
        spaces = {
            key_of(name): part.get_internal_states_space(given)
            for name, part, given in self.spaces_of_parts(from_spec(space))
            if part.has_state
        }
        return Dict(spaces) if spaces else None

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        self.get_preprocessed_space(input_spaces["inputs"])
        states = input_spaces.get("internal_states")
        if states is not None:
            check_states("internal_states", states, self.get_internal_states_space(input_spaces["inputs"]))

    @rlgraph_api
    def preprocess(self, inputs: Any, internal_states: Any = None) -> Any:
        """The output for ``inputs [B, ...]``; if `has_state` ``{"output", "internal_states"}``.

        Args:
            inputs: the newest state of each episode.
            internal_states: those after the state before, as of `get_internal_states_space`; where they are zero, or
                None, an episode begins.
        """
        return self._run(inputs, internal_states, frozen=False)

    @rlgraph_api
    def preprocess_frozen(self, inputs: Any, internal_states: Any = None) -> Any:
        """As `preprocess`, but no layer learns; switched off if none would."""
        return self._run(inputs, internal_states, frozen=True)

    @rlgraph_api
    def reset(self) -> Any:
        """Reset all layers: those that learn forget their statistics.

        The frames of an episode are not kept here: they are `internal_states`, zero or None where an episode begins.
        """
        for _, part in self.parts:
            part.reset()

    def _run(self, inputs: Any, internal_states: Any, frozen: bool) -> Any:
        states = {}

        def run(name: str, part: Any, inputs: Any) -> Any:
            method = getattr(part, self.part_methods[frozen and part.learns])
            if not part.has_state:
                return method(inputs)
            key = key_of(name)
            result = method(inputs, None if internal_states is None else internal_states[key])
            states[key] = result["internal_states"]
            return result["output"]

        output = self.wire(inputs, run)
        return {"output": output, "internal_states": states} if self.has_state else output


class PreprocessorStack(Preprocessor):
    """Applies preprocessing layers in sequence, to every leaf of a container state.

    Args:
        layers: `PreprocessLayer` objects or their specs; without layers the inputs are returned.

    Attributes:
        has_state: whether a layer keeps state; then ``preprocess`` returns ``{"output", "internal_states"}``, with the
            states by layer.
        learns: whether a layer learns.

    Raises:
        SpecError: an invalid spec (named by its position), or a layer that is not a preprocessing layer.
    """

    part_methods = ("call", "apply")
    spec_hint = "write layers as a list, even a single one"

    def __init__(self, layers: Sequence[Any] = (), scope: str = "preprocessor", **kwargs: Any):
        if isinstance(layers, str) or not isinstance(layers, Sequence):
            raise SpecError(f"expected a list of layer specs, given {layers!r}", path=f"{scope}.layers")
        self.layers: list[Any] = [_layer(spec, f"{scope}.layers[{i}]", i) for i, spec in enumerate(layers)]
        super().__init__(((layer.scope, layer) for layer in self.layers), scope, **kwargs)

    @classmethod
    def from_spec(cls, spec: Any, *, path: str = "", **kwargs: Any) -> Self:
        """As `Specifiable.from_spec`; a list is one of layer specs."""
        if isinstance(spec, list | tuple):
            path = record_form(path or cls.__name__, spec)
            spec = {"layers": [_layer(layer, f"{path}[{i}]", i) for i, layer in enumerate(spec)]}
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

    def spaces_of_parts(self, space: Space) -> Iterable[tuple[str, Any, Space]]:
        for name, layer in self.parts:
            yield name, layer, space
            space = layer.get_preprocessed_space(space)

    def wire(self, inputs: Any, run: Any) -> Any:
        for name, layer in self.parts:
            inputs = run(name, layer, inputs)
        return inputs


def _layer(spec: Any, path: str, position: int) -> PreprocessLayer:
    if isinstance(spec, dict) and "scope" not in spec:
        kind = spec.get("type", "layer")
        name = kind.__name__.lower() if isinstance(kind, type) else kind
        spec = {**spec, "scope": f"{name}-{position}"}
    return PreprocessLayer.from_spec(spec, path=path)
