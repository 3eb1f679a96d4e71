"""Merging: of equal calls that compute the same, one is left.

Before::

    %1 = policy.network(states)
    %2 = policy.head(%1)
    %3 = policy.network(states)      # the value function shares the network
    %4 = value_function.head(%3)

After::

    %1 = policy.network(states)
    %2 = policy.head(%1)
    %4 = value_function.head(%1)

The result of a function that returns its argument unchanged is another name for it; the call is dropped.

Calls are equal if component, function and arguments are, and no variable they read was written in between. What
writes, draws or runs on the host is not merged, except the calls of layers that train, in one update (`shared_calls`).
A region sees what was computed before it, but no such call; what it computes stays inside. A derivative that is taken
in a region needs all of its slice there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rlgraph.core.graph.nodes import (
    Branch,
    Const,
    Expression,
    Gradients,
    GraphFunctionCall,
    JoinedVariables,
    Loop,
    Node,
    Output,
    Pack,
    Ref,
    Region,
    VariablesOf,
    descend,
    outputs_of,
    walk_nodes,
    with_expressions,
    with_regions,
)
from rlgraph.core.ops.effects import Effects
from rlgraph.spaces import Space


def merge_equal_calls(
    nodes: Sequence[Node], results: Expression, effects: Mapping[int, Effects], pure: bool = True
) -> tuple[list[Node], Expression]:
    """`nodes` without repeated calls, and `results` in terms of those that are left.

    `pure` is False where only those are merged that would draw or write again.
    """
    merging = _Merging(effects, pure)
    left = merging.merge(nodes)
    return left, merging.renamed(results)


class _Merging:
    def __init__(self, effects: Mapping[int, Effects], pure: bool):
        self.effects, self.pure = effects, pure
        self.first: dict[Any, Node] = {}
        self.versions: Counter[str] = Counter()
        self.names: dict[Output, Expression] = {}

    def merge(self, nodes: Sequence[Node]) -> list[Node]:
        left = []
        for node in nodes:
            writes = self.effects[node.id].writes
            if isinstance(node, Loop):
                # An iteration reads what the one before it has written.
                self.versions.update(writes)
            node = self._merged_inside(self._renamed_node(node))
            key = self._key(node)
            if key is not None and key in self.first:
                # What is left may itself be another name for its argument.
                first = (self.renamed(Ref(output)) for output in outputs_of(self.first[key]))
                self.names.update(zip(outputs_of(node), first, strict=True))
                continue
            if self.pure:
                self.names.update(self._arguments_given_back(node))
            if key is not None:
                self.first[key] = node
            self.versions.update(writes)
            left.append(node)
        return left

    def renamed(self, expression: Expression) -> Expression:
        if isinstance(expression, Pack):
            return Pack(expression.kind, tuple((key, self.renamed(item)) for key, item in expression.items))
        if isinstance(expression, Ref) and isinstance(expression.source, Output):
            return descend(self.names.get(expression.source, Ref(expression.source)), expression.path)
        return expression

    def _arguments_given_back(self, node: Node) -> Iterator[tuple[Output, Expression]]:
        if isinstance(node, GraphFunctionCall):
            arguments = dict(node.arguments)
            for index, name in enumerate(self.effects[node.id].same):
                if name:
                    yield Output(node.id, index), arguments[name]

    def _renamed_node(self, node: Node) -> Node:
        return with_expressions(node, self.renamed) if self.names else node

    def _merged_inside(self, node: Node) -> Node:
        if not isinstance(node, Loop | Branch):
            return node

        def merged(region: Region) -> Region:
            known, versions = dict(self.first), Counter(self.versions)
            self.first = {key: node for key, node in known.items() if self.effects[node.id].pure}
            self.versions.update(self._differentiated(region))
            nodes = tuple(self.merge(region.nodes))
            self.first, self.versions = known, versions
            return Region(nodes, self.renamed(region.results))

        return with_regions(node, merged)

    def _differentiated(self, region: Region) -> frozenset[str]:
        """The variables by which derivatives are taken inside."""
        taken = (node.id for node in walk_nodes(region.nodes) if isinstance(node, Gradients))
        return frozenset[str]().union(*(self.effects[id_].reads for id_ in taken))

    def _key(self, node: Node) -> Any:
        """What makes a call the same as another; None if it is never."""
        if isinstance(node, VariablesOf) and self.pure:
            return ("variables", node.component, node.trainable_only)
        if isinstance(node, JoinedVariables) and self.pure:
            return ("joined", *map(_comparable, node.lists))
        effects = self.effects[node.id]
        if not isinstance(node, GraphFunctionCall) or not node.returns:
            return None
        update = 0 if effects.pure else node.update
        if not (update or (effects.pure and self.pure)) or effects.host:
            return None
        # What such a call writes, a stream or running statistics, it has also read.
        versions = tuple((name, self.versions[name]) for name in sorted(effects.reads - effects.writes))
        arguments = tuple((name, _comparable(expression)) for name, expression in node.arguments)
        return (node.component, node.function, arguments, versions, update)


def _comparable(expression: Expression) -> Any:
    """Numbers, names, Spaces and None are compared by what they are, other constants by identity."""
    if isinstance(expression, Const) and isinstance(expression.value, bool | int | float | str | None):
        return repr(expression.value)  # 0.0 and -0.0 are two numbers
    if isinstance(expression, Const) and isinstance(expression.value, Space):
        return expression.value
    if isinstance(expression, Pack):
        return (expression.kind, tuple((key, _comparable(item)) for key, item in expression.items))
    return expression
