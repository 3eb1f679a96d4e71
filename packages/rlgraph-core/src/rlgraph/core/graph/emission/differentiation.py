"""Derivatives of functions: where a backend takes them of a function, not of a value, the slice becomes one.

Before::

    v1 = policy__q_values(states)
    v2, v3 = loss__loss(v1, rewards)
    v4 = gradients_7(v2)

After::

    def differentiated_7():
        v1 = policy__q_values(states)
        v2, v3 = loss__loss(v1, rewards)
        return v2, (v1, v2, v3)
    (v1, v2, v3), v4 = gradients_7(differentiated_7)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlgraph.core.graph.nodes import Gradients, Node


def last_span(nodes: Sequence[Node], slices: Mapping[int, frozenset[int]]) -> tuple[int, int] | None:
    """Where among `nodes` the function of the last derivative begins, and where its `gradients` node is.

    The functions of derivatives that share a part of their slices contain one another, so the earlier ones lie inside
    the last one, or ahead of it.
    """
    starts = {}
    for position, node in enumerate(nodes):
        if isinstance(node, Gradients):
            starts[position] = next(i for i, other in enumerate(nodes) if other.id in slices[node.id])
    if not starts:
        return None
    last = max(starts)
    start = starts[last]
    for position in sorted(starts, reverse=True):
        if start < position:
            start = min(start, starts[position])
    return start, last
