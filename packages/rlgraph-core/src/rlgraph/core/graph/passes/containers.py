"""Containers: a graph function with `flatten_ops` or `split_ops` is written out for the leaves it is given.

A container is then only names: nothing is flattened, split or merged at run time.

Before::

    %1 = scale._scale(states)              # split_ops, add_auto_key_as_first_param
    return %1

After, where the Space of states is {a: {b: ...}, c: ...}::

    %2 = scale._scale('a/b', states[a][b])
    %3 = scale._scale('c', states[c])
    return {a: {b: %2}, c: %3}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rlgraph.core.errors import BuildError
from rlgraph.core.graph.component_graph import ComponentGraph
from rlgraph.core.graph.flat_keys import common_keys, flat_parts, is_flat, nest
from rlgraph.core.graph.nodes import (
    ApiCall,
    Const,
    Expression,
    GraphFunctionCall,
    Node,
    Output,
    Pack,
    Ref,
    Region,
    Source,
    descend,
    label,
    references,
    walk_nodes,
    with_expressions,
    with_regions,
)
from rlgraph.core.graph.values import FixedShape, Value, leaves, map_leaves, space_of
from rlgraph.core.ops.tensor_spec import TensorSpec


def expand(
    function: Any, node: GraphFunctionCall, arguments: Mapping[str, Value], ids: Iterator[int]
) -> dict[str, GraphFunctionCall]:
    """The calls that replace a call of a function with `flatten_ops`: one per flat key, or one with flat dicts.

    One with `space_of` is called with a Space. What else there is stays as it is.

    Args:
        function: the graph function.
        node: its call.
        arguments: what is known of the arguments.
        ids: ids that are not taken.

    Raises:
        BuildError: the containers to be split have different keys, or a tensor has no Space.
    """
    flat = {n: flat_parts(e, arguments[n]) for n, e in node.arguments if function.options.flattens(n)}
    if not function.options.split_ops:
        leading = _space_argument(function, arguments)
        packed = (
            (n, Pack(dict, tuple(flat[n].items())) if n in flat else whole) for n, whole in node.arguments
        )
        if function.shape_only and _has_fixed_sizes(arguments[function.space_of]):
            shapes = Const(map_leaves(FixedShape, arguments[function.space_of]))
            packed = ((n, shapes if n == function.space_of else whole) for n, whole in packed)
        return {"": replace(node, id=next(ids), arguments=(*leading, *packed))}
    calls = {}
    for key in common_keys(label(node), flat):
        parts = tuple(
            (n, flat[n][key if key in flat[n] else ""] if n in flat else whole) for n, whole in node.arguments
        )
        leading = ((function.key_parameter, Const(key)),) if function.key_parameter else ()
        space = _space_argument(function, arguments, key)
        calls[key] = replace(node, id=next(ids), arguments=(*leading, *space, *parts))
    return calls


def _space_argument(function: Any, arguments: Mapping[str, Value], key: str = "") -> tuple[Any, ...]:
    """The argument with the Space of another one, or of its leaf `key`."""
    if function.space_of is None:
        return ()
    value = arguments.get(function.space_of)
    parts = {"/".join(map(str, path)): leaf for path, leaf in leaves(value)}
    try:
        return ((function.space_parameter, Const(space_of(parts.get(key, value)))),)
    except ValueError as error:
        raise BuildError(
            f"{function.name}: the Space of {function.space_of!r} is asked for: {error}"
        ) from None


def _has_fixed_sizes(value: Value) -> bool:
    return all(
        isinstance(leaf, TensorSpec) and all(isinstance(size, int) for size in leaf.shape)
        for _, leaf in leaves(value)
    )


def merged(calls: Mapping[str, GraphFunctionCall], index: int, values: Mapping[Source, Value]) -> Expression:
    """The expression that replaces output `index` of an expanded call."""
    if list(calls) != [""]:
        return nest({key: Ref(Output(call.id, index)) for key, call in calls.items()})
    output = Output(calls[""].id, index)
    value = values[output]
    # A function with flat arguments may return a flat dict: it is nested again by its keys.
    if isinstance(value, dict) and is_flat(value):
        return nest({key: Ref(output, (key,)) for key in value})
    return Ref(output)


def write_out(
    graph: ComponentGraph,
    expanded: Mapping[int, Sequence[GraphFunctionCall]],
    replaced: Mapping[Source, Expression],
) -> ComponentGraph:
    """`graph` with every node in `expanded` replaced by its calls, and its outputs by the calls' outputs."""
    if not expanded and not replaced:
        return graph

    def resolve(expression: Expression) -> Expression:
        if isinstance(expression, Ref) and expression.source in replaced:
            return descend(replaced[expression.source], expression.path)
        if isinstance(expression, Pack):
            return Pack(expression.kind, tuple((key, resolve(part)) for key, part in expression.items))
        return expression

    def written_out(nodes: Sequence[Node]) -> tuple[Node, ...]:
        return tuple(
            with_regions(with_expressions(call, resolve), region)
            for node in nodes
            for call in expanded.get(node.id, (node,))
        )

    def region(old: Region) -> Region:
        return Region(written_out(old.nodes), old.results)

    def call_written_out(call: ApiCall) -> ApiCall:
        used = (ref.source for e in (*dict(call.arguments).values(), call.results) for ref in references(e))
        if replaced.keys().isdisjoint(used):
            return call
        arguments = tuple((name, resolve(e)) for name, e in call.arguments)
        return replace(call, arguments=arguments, results=resolve(call.results))

    nodes = {name: written_out([graph.nodes[i] for i in m.nodes]) for name, m in graph.methods.items()}
    return ComponentGraph(
        graph.root,
        graph.components,
        {name: replace(m, nodes=tuple(n.id for n in nodes[name])) for name, m in graph.methods.items()},
        {node.id: node for node in walk_nodes(n for some in nodes.values() for n in some)},
        {id_: call_written_out(call) for id_, call in graph.calls.items()},
    )
