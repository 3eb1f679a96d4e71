"""Where a build or an assembly failed, and a few lines that show the graph around that place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rlgraph.core.graph.component_graph import ComponentGraph
from rlgraph.core.graph.nodes import Source
from rlgraph.core.graph.values import Value


@dataclass(frozen=True)
class Failure:
    """The place of an error, as ``error.failure``; ``rlgraph.core.draw.draw(error)`` draws it.

    Attributes:
        graph: the graph as far as it was assembled.
        values: what was known of values; None if the build had not begun.
        nodes: ids of the failing nodes.
        scopes: scopes of the failing components.
    """

    graph: ComponentGraph
    values: Mapping[Source, Value] | None = None
    nodes: frozenset[int] = field(default_factory=frozenset)
    scopes: frozenset[str] = field(default_factory=frozenset)
