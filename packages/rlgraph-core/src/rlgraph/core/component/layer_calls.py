"""Calls of layers outside of assembly, such as ``Dense(64)(states)``, which describe a network as plain data.

Nothing is computed or traced. A call holds its component and its arguments; its output can be passed to other calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rlgraph.core.errors import AssemblyError
from rlgraph.core.graph.trace import Symbol, bind_arguments
from rlgraph.core.ops.nest import leaves_of
from rlgraph.spaces import Space


@dataclass(frozen=True, eq=False)
class LayerCall:
    """One call of the API method `call` of a component.

    Attributes:
        layer: the component.
        arguments: by name; Spaces, outputs of other calls, and dict and tuple literals of them.
    """

    layer: Any
    arguments: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class LayerOutput:
    """The output of a layer call or the input of a network, or a part of it.

    Attributes:
        call: the call; None for the network's input.
        path: positions and keys of the part.
    """

    call: LayerCall | None
    path: tuple[str | int, ...] = ()

    def __getitem__(self, key: str | int) -> LayerOutput:
        return LayerOutput(self.call, (*self.path, key))

    # The number of parts is known only at assembly.
    __iter__ = None

    def __repr__(self) -> str:
        source = "the network's input" if self.call is None else f"the output of {self.call.layer!r}"
        return "".join([source, *(f"[{key!r}]" for key in self.path)])


def call_layer(layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> LayerOutput:
    """The output of `layer` for the arguments of its API method `call`: Spaces and outputs of other layers.

    Raises:
        AssemblyError: there is no such API method, it takes other inputs, or one is neither Space nor output.
    """
    if "call" not in layer.api_methods():
        raise AssemblyError(
            f"{layer!r} has no API method 'call': only layers with one can be called with Spaces. "
            f"It has {', '.join(layer.api_methods()) or 'none'}"
        )
    where = f"{layer.scope_path}.call"
    method = layer.api_method("call")
    given = len(args) + len(kwargs)
    try:
        arguments = bind_arguments(method.signature, layer, args, kwargs, where)
    except AssemblyError as error:
        raise AssemblyError(
            f"{error}; it was given {given} input{'s' * (given != 1)}. Several become one by Concat()(a, b)"
        ) from None
    arguments = {name: value for name, value in arguments.items() if value is not None}
    for name, value in arguments.items():
        for leaf in leaves_of(value):
            _check(leaf, f"{where}, argument {name}")
    return LayerOutput(LayerCall(layer, arguments))


def _check(leaf: Any, where: str) -> None:
    if isinstance(leaf, Symbol):
        raise AssemblyError(
            f"{where}: expected a Space or the output of a layer, given {leaf!r}: in an API method write "
            "layer.call(...)"
        )
    if not isinstance(leaf, Space | LayerOutput):
        raise AssemblyError(
            f"{where}: expected a Space or the output of a layer, given {type(leaf).__name__} {leaf!r}: what a "
            "network computes, an executor runs: GraphExecutor or ComponentTest"
        )
