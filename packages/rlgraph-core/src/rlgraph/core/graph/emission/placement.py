"""Where the lines of a segment run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rlgraph.core.graph.built_graph import BuiltGraph
from rlgraph.core.graph.nodes import GraphFunctionCall, Node, arguments_of, outputs_of, walk_nodes
from rlgraph.core.graph.plan import Leaf, tensor_leaves
from rlgraph.core.graph.variables import GradientList


def device_of(built: BuiltGraph, node: GraphFunctionCall) -> str:
    """The device on which a graph function runs; empty where the backend decides.

    What writes variables, or makes derivatives by them, runs where most of them are.
    """
    effects = built.effects[node.id]
    names = set(effects.writes - effects.draws)
    for output in outputs_of(node):
        value = built.values[output]
        if isinstance(value, GradientList):
            names.update(variable.name for variable in value)
    if not names:
        return built.devices[node.component].ops
    sizes: Counter[str] = Counter()
    for name in sorted(names):
        sizes[built.variables[name].device] += built.variables[name].size
    return sizes.most_common(1)[0][0]


def first_devices(built: BuiltGraph, nodes: Iterable[Node]) -> dict[Leaf, str]:
    """For every tensor that graph functions take the device on which it is needed first, where there is one."""
    found: dict[Leaf, str] = {}
    for node in walk_nodes(nodes):
        if isinstance(node, GraphFunctionCall):
            device = device_of(built, node)
            for leaf in tensor_leaves(built, (e for _, e in arguments_of(node))):
                found.setdefault(leaf, device)
    return {leaf: device for leaf, device in found.items() if device}
