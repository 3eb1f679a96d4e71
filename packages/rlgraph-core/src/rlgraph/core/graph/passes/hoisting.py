"""Hoisting: every `gradients` node moves up, right after its loss.

Before::

    %4 = loss.loss(%3)
    %5 = optimizer_a.step(...)             # writes a variable from which %4 was computed
    %6 = gradients(%4, policy.variables)

After::

    %4 = loss.loss(%3)
    %6 = gradients(%4, policy.variables)   # before any write
    %5 = optimizer_a.step(...)
"""

from __future__ import annotations

from collections.abc import Sequence

from rlgraph.core.graph.nodes import Gradients, JoinedVariables, Node, Region, VariablesOf, with_regions
from rlgraph.core.graph.passes.dead_nodes import producers


def hoist_gradients(nodes: Sequence[Node]) -> list[Node]:
    """`nodes` with every `gradients` node right after its loss. Lists of variables come first."""
    nodes = [with_regions(node, _hoisted) for node in nodes]
    lists = VariablesOf | JoinedVariables
    result: list[Node] = [node for node in nodes if isinstance(node, lists)]
    result.extend(node for node in nodes if not isinstance(node, lists | Gradients))
    for node in nodes:
        if isinstance(node, Gradients):
            needed = producers(node.loss, node.variables)
            last = max((i for i, other in enumerate(result) if other.id in needed), default=-1)
            # Gradients of one loss stay in their order.
            while last + 1 < len(result) and isinstance(result[last + 1], Gradients):
                last += 1
            result.insert(last + 1, node)
    return result


def _hoisted(region: Region) -> Region:
    return Region(tuple(hoist_gradients(region.nodes)), region.results)
