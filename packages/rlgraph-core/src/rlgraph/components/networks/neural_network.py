"""Networks of layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from rlgraph.components.networks.layer_chain import (
    LayerChain,
    call_layer,
    check_state_keys,
    is_recurrent,
    run_layers,
)
from rlgraph.components.networks.layer_graph import (
    LayerGraph,
    chain,
    layer_graph_of_outputs,
    name_layers,
    the_only_space,
)
from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer
from rlgraph.core import Component, SpecError
from rlgraph.core.specs.spec_paths import locate, record_form

#: The activation of a dense layer that is given as its number of units.
ACTIVATION = "relu"


class NeuralNetwork(LayerChain):
    """Layers applied in sequence or as any acyclic graph.

    It finds the recurrent layers (also inside networks, residuals and stacks) and carries their states:
    ``network.call_with_states(inputs, internal_states)`` returns ``{"output", "internal_states"}``, and
    ``network.internal_states_space`` is their Space (None without recurrent layers). Inputs without time rank are one
    step, with time rank, in either order, sequences.

    Args:
        layers: layers or their specs; 64 is a dense layer of 64 units with ReLU. Layers without a scope are named after
            type and position. None with `outputs`.
        fold_time_rank: time is folded into the batch ahead of the first layer, ``[B, T, ...] -> [B * T, ...]``, for
            layers without time rank; inputs without time rank stay. Default: where a layer is a module of a framework;
            beside recurrent layers, around this layer. The layers of this library do not need this.
        unfold_time_rank: time is unfolded after the last layer; default: as `fold_time_rank`.
        inputs: with `outputs`: the Spaces that the first layers were called with, one, or a list or dict of them if
            the network is given a Tuple or Dict. Optional for one Space.
        outputs: the network's return value: ``Dense(2)(Dense(64)(space))``, or a list or dict of outputs of layers.

    Raises:
        SpecError: no layers, or an invalid spec (named by its position); time folded around a recurrent layer.
        AssemblyError: `outputs` do not depend on the inputs, an input is unused, or the layers form a cycle; internal
            states without a recurrent layer.
        SpaceError: internal states of other layers.
    """

    spec_hint = "write layers as a list, even a single one"

    def __init__(
        self,
        layers: Sequence[Any] | None = None,
        fold_time_rank: bool | None = None,
        unfold_time_rank: bool | None = None,
        scope: str = "network",
        *,
        inputs: Any = None,
        outputs: Any = None,
        **kwargs: Any,
    ):
        self.graph = _layer_graph(layers, inputs, outputs, scope)
        self.layers = self.graph.layers
        refused = [
            layer.scope
            for layer in self.layers
            if isinstance(layer, PreprocessLayer) and (layer.has_state or layer.learns)
        ]
        if refused:
            raise SpecError(
                f"{refused[0]} keeps frames or statistics of past states, which a network does not support: put it "
                "into preprocessing_spec",
                path=f"{scope}.layers",
            )
        check_state_keys(self.layers, f"{scope}.layers")
        #: Layers that time is folded around.
        self._without_time: list[Any] = []
        if fold_time_rank is None:
            self._without_time = [layer for layer in self.layers if not layer.ranks_may_differ]
            fold_time_rank = bool(self._without_time) and not any(map(is_recurrent, self.layers))
        self.fold_time_rank = fold_time_rank
        self.unfold_time_rank = fold_time_rank if unfold_time_rank is None else unfold_time_rank
        self._check_folding(scope)
        super().__init__(*self.layers, scope=scope, **kwargs)

    def _check_folding(self, scope: str) -> None:
        if self.unfold_time_rank and not self.fold_time_rank:
            raise SpecError("unfold_time_rank without fold_time_rank", path=scope)
        recurrent = [layer.scope for layer in self.layers if is_recurrent(layer)]
        if self.fold_time_rank and recurrent:
            raise SpecError(
                f"{recurrent[0]} is recurrent and needs the time rank: fold it around the "
                "other layers, in a separate network",
                path=f"{scope}.fold_time_rank",
            )

    @classmethod
    def from_spec(cls, spec: Any, *, path: str = "", **kwargs: Any) -> Self:
        """As `Specifiable.from_spec`; a list is one of layers or their specs."""
        if isinstance(spec, list | tuple):
            path = record_form(path or cls.__name__, spec)
            spec = {"layers": [_layer(layer, f"{path}[{i}]", i) for i, layer in enumerate(spec)]}
        return super().from_spec(spec, path=path, **kwargs)

    def wire(
        self,
        inputs: Any,
        internal_states: Any,
        sequence_length: Any,
        resets: Any,
        training: Any,
        every_step: Any,
    ) -> tuple[Any, dict[str, Any]]:
        states: dict[str, Any] = {}

        def run_layer(layer: Any, given: Mapping[str, Any]) -> Any:
            if layer in self._without_time and not self.fold_time_rank:
                folded = {name: self._fold_time(x) for name, x in given.items()}
                return self._unfold_time(
                    call_layer(layer, training=training, **folded), next(iter(given.values()))
                )
            if not is_recurrent(layer):
                return call_layer(layer, training=training, **given)
            (first,) = given.values()
            output, behind = run_layers(
                (layer,), first, internal_states, sequence_length, resets, training, every_step
            )
            states.update(behind)
            return output

        folded = self._fold_time(inputs) if self.fold_time_rank else inputs
        output = self.graph.run(folded, run_layer)
        return (self._unfold_time(output, inputs) if self.unfold_time_rank else output), states


def sub_network(spec: Any, scope: str, path: str) -> NeuralNetwork:
    """A network inside another component: an instance unchanged, or built from a spec under the scope."""
    return NeuralNetwork.from_spec(
        spec, path=path, **({} if isinstance(spec, NeuralNetwork) else {"scope": scope})
    )


def _layer_graph(layers: Any, inputs: Any, outputs: Any, scope: str) -> LayerGraph:
    if outputs is not None:
        if layers is not None:
            raise SpecError(f"expected None together with outputs, given {layers!r}", path=f"{scope}.layers")
        # Wiring mistakes are not values of a spec, so they are located here.
        where = locate(f"{scope}.outputs").removesuffix(".outputs")
        graph = layer_graph_of_outputs(
            the_only_space(outputs, where) if inputs is None else inputs, outputs, where
        )
        name_layers(graph.layers)
        return graph
    if isinstance(layers, str) or not isinstance(layers, Sequence) or not layers or inputs is not None:
        raise SpecError(
            f"expected a list of layer specs, given {layers!r}"
            + (" and inputs, but no outputs" if inputs is not None else "")
            + ("; use multi_input_stream_network for several inputs" * isinstance(layers, Mapping)),
            path=f"{scope}.layers",
        )
    return chain([_layer(spec, f"{scope}.layers[{i}]", i) for i, spec in enumerate(layers)])


def _layer(spec: Any, path: str, position: int) -> Component:
    if isinstance(spec, int | float):
        if type(spec) is not int or spec < 1:
            raise SpecError(
                f"expected a layer spec, or the units of a dense layer, an integer >= 1, given {spec!r}",
                path=path,
            )
        spec = {"type": "dense", "units": spec, "activation": ACTIVATION}
    if isinstance(spec, dict) and "type" not in spec:
        raise SpecError(f"missing; a layer is a mapping with 'type', given {spec!r}", path=f"{path}.type")
    if isinstance(spec, dict) and "scope" not in spec:
        kind = spec.get("type", "layer")
        name = kind.__name__.lower() if isinstance(kind, type) else kind
        spec = {**spec, "scope": f"{name}-{position}"}
    return Component.from_spec(spec, path=path)
