"""Snapshots: an output that shares memory with a variable is copied where that could be seen.

Before::

    %1 = counter.view()        # a view of counter/count
    %2 = counter.increment()   # writes counter/count
    return %1

After::

    %1 = copy(counter.view())
    %2 = counter.increment()
    return %1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlgraph.core.graph.nodes import Expression, Node, Output, references
from rlgraph.core.ops.effects import Effects


def find_snapshots(nodes: Sequence[Node], results: Expression, effects: Mapping[int, Effects]) -> frozenset[Output]:
    """The outputs that alias a variable and are returned, or whose variable a later node writes."""
    returned = {ref.source for ref in references(results)}
    snapshots = set()
    for position, node in enumerate(nodes):
        later_writes = frozenset[str]().union(*(effects[n.id].writes for n in nodes[position + 1 :]))
        for index, aliases in enumerate(effects[node.id].aliases):
            output = Output(node.id, index)
            if aliases and (output in returned or aliases & later_writes):
                snapshots.add(output)
    return frozenset(snapshots)
