"""A stack of layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from rlgraph.components.networks.layer_chain import LayerChain, check_state_keys, is_recurrent, run_layers
from rlgraph.core import Component, SpecError


class NeuralNetwork(LayerChain):
    """Layers applied one after the other.

    It finds the recurrent layers among them (also inside of networks, residuals and stacks) and carries their states:
    ``network.call_with_states(inputs, internal_states)`` gives ``{"output", "internal_states"}``, and
    ``network.internal_states_space`` is their Space (None without recurrent layers). Inputs without time rank are one
    step, with time rank, in either order, sequences.

    Args:
        layers: layers or specs of them; layers without a scope of their own are named after type and position.
        fold_time_rank: time is folded into the batch ahead of the first layer, ``[B, T, ...] -> [B * T, ...]``, for
            layers that know nothing of time; inputs without time rank stay. The layers of this library need none.
        unfold_time_rank: behind the last layer it is unfolded again; default: as `fold_time_rank`.
        scope: name among its siblings.

    Raises:
        SpecError: no layers, or a spec that is wrong (named by its position); time folded around a recurrent layer.
        AssemblyError: internal states without a recurrent layer.
        SpaceError: internal states of other layers.
    """

    def __init__(
        self,
        layers: Sequence[Any],
        fold_time_rank: bool = False,
        unfold_time_rank: bool | None = None,
        scope: str = "network",
        **kwargs: Any,
    ):
        if isinstance(layers, str) or not isinstance(layers, Sequence) or not layers:
            raise SpecError(f"{scope}.layers: expected a list of layer specs, given {layers!r}")
        self.layers: list[Any] = [_layer(spec, f"{scope}.layers[{i}]", i) for i, spec in enumerate(layers)]
        stateful = [layer.scope for layer in self.layers if getattr(layer, "has_state", False)]
        if stateful:
            raise SpecError(
                f"{scope}.layers: {stateful[0]} remembers something of each environment, and a network does not know "
                "them: put it into preprocessing_spec"
            )
        check_state_keys(self.layers, f"{scope}.layers")
        self.fold_time_rank = fold_time_rank
        self.unfold_time_rank = fold_time_rank if unfold_time_rank is None else unfold_time_rank
        self._check_folding(scope)
        super().__init__(*self.layers, scope=scope, **kwargs)

    def _check_folding(self, scope: str) -> None:
        if self.unfold_time_rank and not self.fold_time_rank:
            raise SpecError(f"{scope}: unfold_time_rank without fold_time_rank")
        recurrent = [layer.scope for layer in self.layers if is_recurrent(layer)]
        if self.fold_time_rank and recurrent:
            raise SpecError(
                f"{scope}.fold_time_rank: {recurrent[0]} is recurrent and needs the time: fold it around the "
                "other layers, in a network of their own"
            )

    @classmethod
    def from_spec(cls, spec: Any, *, path: str = "", **kwargs: Any) -> Self:
        """As `Specifiable.from_spec`; a list is one of layer specs."""
        if isinstance(spec, list | tuple):
            where = path or cls.__name__
            spec = {"layers": [_layer(layer, f"{where}[{i}]", i) for i, layer in enumerate(spec)]}
        return super().from_spec(spec, path=path, **kwargs)

    def wire(
        self, inputs: Any, internal_states: Any, sequence_length: Any, resets: Any, training: Any
    ) -> tuple[Any, dict[str, Any]]:
        first = self._fold_time(inputs) if self.fold_time_rank else inputs
        output, states = run_layers(self.layers, first, internal_states, sequence_length, resets, training)
        return (self._unfold_time(output, inputs) if self.unfold_time_rank else output), states


def _layer(spec: Any, path: str, position: int) -> Component:
    if isinstance(spec, dict) and "scope" not in spec:
        kind = spec.get("type", "layer")
        name = kind.__name__.lower() if isinstance(kind, type) else kind
        spec = {**spec, "scope": f"{name}-{position}"}
    return Component.from_spec(spec, path=path)
