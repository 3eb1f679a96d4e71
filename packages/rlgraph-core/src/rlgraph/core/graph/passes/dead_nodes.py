"""Dead nodes: what neither a result nor a lasting effect needs is left out.

Before::

    %1 = policy.dense(states)
    %2 = policy.value(%1)          # unused
    return %1

After::

    %1 = policy.dense(states)
    return %1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlgraph.core.graph.nodes import (
    Expression,
    Node,
    Output,
    Region,
    arguments_of,
    references,
    with_regions,
)
from rlgraph.core.ops.effects import Effects


def producers(*expressions: Expression) -> set[int]:
    """Ids of the nodes whose outputs appear in the expressions."""
    return {ref.source.node for e in expressions for ref in references(e) if isinstance(ref.source, Output)}


def remove_dead_nodes(
    nodes: Sequence[Node], results: Expression, effects: Mapping[int, Effects]
) -> list[Node]:
    """`nodes` without those that are pure and unused, inside regions too."""

    def cleaned(region: Region) -> Region:
        return Region(tuple(remove_dead_nodes(region.nodes, region.results, effects)), region.results)

    needed = producers(results)
    kept = []
    for node in reversed(nodes):
        if node.id in needed or not effects[node.id].pure:
            node = with_regions(node, cleaned)
            needed |= producers(*(expression for _, expression in arguments_of(node)))
            kept.append(node)
    return kept[::-1]
