"""Names of the values in a plan: those that the wiring gives them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from rlgraph.core.graph.component_graph import ComponentGraph
from rlgraph.core.graph.nodes import (
    ApiCall,
    Carried,
    Const,
    GraphFunctionCall,
    Index,
    Input,
    Loop,
    Node,
    Path,
    Ref,
    outputs_of,
    walk_nodes,
)
from rlgraph.core.graph.plan import Leaf, Plan
from rlgraph.draw.plan_lines import leaves_of


def names_of_values(plan: Plan) -> dict[Leaf, list[str]]:
    """The names of each value, the best one first.

    An argument of the API method has its own name, and a part of what a function returns its key. Other values are
    called what API methods call them, those near the root first: a key of a dict that is given, a parameter, a key of
    a result. What nothing else has a name for is called after its function.
    """
    names: dict[Leaf, list[str]] = defaultdict(list)

    def call(leaf: Leaf, path: Path, otherwise: str = "") -> None:
        keys = [key for key in (*path, *leaf.path) if isinstance(key, str)]
        name, known = keys[-1] if keys else otherwise, names[leaf]
        if name and name not in known:
            known.append(name)

    for leaf, _ in plan.inputs:
        assert isinstance(leaf.source, Input)
        call(leaf, (), leaf.source.name)
    nodes = list(walk_nodes(plan.nodes))
    made = [(node, leaf) for node in nodes for leaf in _leaves_made(plan, node)]
    for _, leaf in made:
        call(leaf, ())
    for calls in _by_depth(plan.built.graph, plan.built.graph.methods[plan.name].call):
        given = [
            (leaf, path, name)
            for each in calls
            for name, expression in each.arguments
            for path, leaf, _ in leaves_of(plan.built, expression)
        ]
        for leaf, path, _ in given:
            call(leaf, path)
        for leaf, path, name in given:
            call(leaf, path, name)
        for each in calls:
            for path, leaf, _ in leaves_of(plan.built, each.results):
                call(leaf, path)
    for node, leaf in made:
        if not names[leaf]:
            call(leaf, (), "i" if isinstance(leaf.source, Index) else _of_function(plan, node))
    return names


def _leaves_made(plan: Plan, node: Node) -> Iterator[Leaf]:
    sources = (Carried(node.id), Index(node.id)) if isinstance(node, Loop) else ()
    for source in (*sources, *outputs_of(node)):
        for _, leaf, _ in leaves_of(plan.built, Ref(source)):
            yield leaf


def _of_function(plan: Plan, node: Node) -> str:
    """The flat key for which a function is called, or the function; one that is just called is its component."""
    if not isinstance(node, GraphFunctionCall):
        return ""
    function = plan.built.graph.components[node.component].graph_function(node.function)
    key = dict(node.arguments)[function.key_parameter] if function.key_parameter else Const("")
    assert isinstance(key, Const)
    keys = [part for part in key.value.split("/") if part and not part.isdigit()]
    name = keys[-1] if keys else node.function.lstrip("_")
    return node.component.rpartition("/")[2] if name == "call" else name


def _by_depth(graph: ComponentGraph, root: int) -> list[list[ApiCall]]:
    """The API calls below that of the root, by how deep they are nested."""
    depths = {root: 0}
    for id_, call in sorted(graph.calls.items()):
        if call.caller in depths:
            depths[id_] = depths[call.caller] + 1
    found: list[list[ApiCall]] = [[] for _ in range(max(depths.values()) + 1)]
    for id_, depth in depths.items():
        found[depth].append(graph.calls[id_])
    return found
