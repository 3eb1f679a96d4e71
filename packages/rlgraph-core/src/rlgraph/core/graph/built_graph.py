"""The built graph: what a build produces. Every Space, variable and effect is known; no framework is needed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from rlgraph.core.errors import BuildError
from rlgraph.core.graph.component_graph import ComponentGraph
from rlgraph.core.graph.devices import Devices
from rlgraph.core.graph.known_values import UNKNOWN, value_of
from rlgraph.core.graph.nodes import Expression, GraphFunctionCall, Source, label
from rlgraph.core.graph.values import Value
from rlgraph.core.graph.variables import Layout, Variable
from rlgraph.core.ops.effects import Effects
from rlgraph.spaces import Space


@dataclass(frozen=True)
class BuiltGraph:
    """A component graph in which every Space is known.

    Attributes:
        graph: the contracted graph.
        input_spaces: root method -> argument -> Space.
        values: what every input and node output is.
        effects: node id -> recorded effects.
        variables: all declared variables by scoped name.
        layout: where the tensor variables live.
        devices: where the variables and graph functions of every component are placed, by scope.
        float_dtype: the floating dtype of the execution.
        action_space: the action Space given to the build.
        contracted: False keeps calls of components' API methods calls in emitted source.
        statistics: seconds spent and sizes (see `rlgraph.core.GraphExecutor`).
    """

    graph: ComponentGraph
    input_spaces: Mapping[str, Mapping[str, Space]]
    values: Mapping[Source, Value]
    effects: Mapping[int, Effects]
    variables: Mapping[str, Variable]
    layout: Layout
    devices: Mapping[str, Devices]
    float_dtype: str
    action_space: Space | None
    contracted: bool
    statistics: Mapping[str, float | int]

    def value_of(self, expression: Expression) -> Value:
        """What is known of `expression`."""
        value = value_of(expression, self.values)
        assert value is not UNKNOWN
        return value


def build_statistics(
    graph: ComponentGraph, variables: Mapping[str, Variable], started: float
) -> dict[str, float | int]:
    """The size of a built graph, and the seconds since `started`."""
    return {
        "build_seconds": time.perf_counter() - started,
        "components": len(graph.components),
        "api_calls": len(graph.calls),
        "nodes": len(graph.nodes),
        "graph_function_calls": sum(isinstance(n, GraphFunctionCall) for n in graph.nodes.values()),
        "variables": len(variables),
        "trainable_parameters": sum(v.size for v in variables.values() if v.trainable),
    }


def require_kernels(built: BuiltGraph, backend: str) -> None:
    """Check that the graph functions that have kernels only have one for `backend`.

    Raises:
        BuildError: one has not; says for which backends it has.
    """
    for node in built.graph.nodes.values():
        if isinstance(node, GraphFunctionCall):
            function = built.graph.components[node.component].graph_function(node.function)
            if function.kernels_only and backend not in function.kernels:
                backends = " or ".join(repr(name) for name in sorted(function.kernels))
                words = (function.function.__doc__ or "").strip().partition("\n")[0].rstrip(".")
                known, other = (f" ({words})", "") if words else ("", ", or give it a body")
                raise BuildError(
                    f"{label(node)}{known} has no body and no kernel for {backend!r}: "
                    f"build with backend={backends}{other}"
                )
