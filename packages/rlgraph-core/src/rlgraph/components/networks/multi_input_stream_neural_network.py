"""A network with several input streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlgraph.components.networks.neural_network import NeuralNetwork, sub_network
from rlgraph.components.preprocessing.concat import Concat
from rlgraph.core import LayerOutput, SpecError
from rlgraph.core.specs.spec_types import NetworkSpec
from rlgraph.spaces import Dict, Space, Tuple
from rlgraph.spaces.errors import mismatch


class MultiInputStreamNeuralNetwork(NeuralNetwork):
    """One network per part of a Dict or Tuple; their outputs are concatenated and pass through one more network.

    The outputs of these networks are floats whose shapes differ at most in the last axis.

    Args:
        input_network_specs: key of a part -> its network (instance, list of layer specs, or spec), or None for a part
            that is concatenated unchanged; for a Tuple a list.
        post_network_spec: the network after the concatenation; None for none.

    Raises:
        SpecError: no parts, or a wrong spec of a network (named by its part).
        SpaceError: the parts of the input do not match the networks, or the outputs cannot be concatenated.
    """

    def __init__(
        self,
        input_network_specs: Mapping[str, Any] | Sequence[Any],
        post_network_spec: NetworkSpec = None,
        scope: str = "multi-input-stream-network",
        **kwargs: Any,
    ):
        where = f"{scope}.input_network_specs"
        if isinstance(input_network_specs, str) or not input_network_specs:
            raise SpecError(
                f"expected a network for each part of a Dict or Tuple, given {input_network_specs!r}",
                path=where,
            )
        named = isinstance(input_network_specs, Mapping)
        specs = dict(input_network_specs if named else enumerate(input_network_specs))
        self.parts = tuple(specs)
        inputs: dict[Any, LayerOutput] = {key: LayerOutput(None, (key,)) for key in specs}
        streams = {
            key: sub_network(spec, f"input-{key}", f"{where}.{key}" if named else f"{where}[{key}]")(
                inputs[key]
            )
            if spec is not None
            else inputs[key]
            for key, spec in specs.items()
        }
        output = Concat(scope="joined")(streams if named else tuple(streams.values()))
        if post_network_spec is not None:
            output = sub_network(post_network_spec, "post-network", f"{scope}.post_network_spec")(output)
        super().__init__(
            scope=scope, inputs=inputs if named else list(inputs.values()), outputs=output, **kwargs
        )

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        super().check_input_spaces(input_spaces, action_space)
        space = input_spaces["inputs"]
        keys = (
            tuple(space)
            if isinstance(space, Dict)
            else tuple(range(len(space)))
            if isinstance(space, Tuple)
            else ()
        )
        if set(keys) != set(self.parts):
            kind = "Tuple" if self.parts[0] == 0 else "Dict"
            raise mismatch(
                "inputs",
                f"a {kind} with the parts {', '.join(map(str, self.parts))}, one per network",
                repr(space),
                "input_network_specs needs an entry for every part; None passes a part on unchanged",
            )
