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

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from rlgraph.core.errors import PerformanceWarning
from rlgraph.core.graph.nodes import (
    Expression,
    Loop,
    Node,
    Output,
    Source,
    arguments_of,
    label,
    outputs_of,
    references,
    regions_of,
)
from rlgraph.core.graph.variables import Variable
from rlgraph.core.ops.effects import Effects

#: Copies of variables with more bytes are worth a warning.
LARGE = 2**20


def find_snapshots(
    nodes: Sequence[Node], results: Expression, effects: Mapping[int, Effects]
) -> frozenset[Output]:
    """The outputs that alias a variable and are returned, or whose variable a later node writes.

    What leaves a region counts as returned. In a loop every write of the body comes later: in the next iteration.
    """
    return _Snapshots(effects).find(nodes, results, frozenset())


class _Snapshots:
    def __init__(self, effects: Mapping[int, Effects]):
        self.effects = effects
        self.shared: dict[Source, frozenset[str]] = {}

    def find(self, nodes: Sequence[Node], results: Expression, later: frozenset[str]) -> frozenset[Output]:
        """The snapshots among `nodes`, after which the variables `later` are written."""
        returned = {ref.source for ref in references(results)}
        snapshots: set[Output] = set()
        for position, node in enumerate(nodes):
            written = later.union(*(self.effects[n.id].writes for n in nodes[position + 1 :]))
            repeated = self.effects[node.id].writes if isinstance(node, Loop) else frozenset[str]()
            for region in regions_of(node):
                snapshots |= self.find(region.nodes, region.results, written | repeated)
            for index, output in enumerate(outputs_of(node)):
                aliases = self._aliases(node, index)
                if aliases and (output in returned or aliases & written):
                    snapshots.add(output)
                else:
                    self.shared[output] = aliases
        return frozenset(snapshots)

    def _aliases(self, node: Node, index: int) -> frozenset[str]:
        own = self.effects[node.id].aliases[index]
        return own.union(*(self.shared.get(source, ()) for source in viewed(node, index, self.effects)))


def viewed(node: Node, index: int, effects: Mapping[int, Effects]) -> set[Source]:
    """What output `index` of `node` may share memory with besides variables."""
    views = effects[node.id].views[index : index + 1]
    return {
        ref.source
        for name, expression in arguments_of(node)
        if views and name in views[0]
        for ref in references(expression)
    }


def warn_of_large_copies(
    nodes: Sequence[Node], effects: Mapping[int, Effects], variables: Mapping[str, Variable]
) -> None:
    """Warn where a large variable is copied at every call, because it is written after it was looked at as a whole.

    What is trained is always read as a whole; this is about buffers, of which mostly a few rows are wanted.
    """
    for position, node in enumerate(nodes):
        own = effects[node.id]
        looked_at = own.whole_reads.union(*own.aliases)
        written = own.overwrites.union(*(effects[other.id].writes for other in nodes[position + 1 :]))
        for name in sorted(looked_at & written):
            variable = variables[name]
            size = variable.size * np.dtype(variable.spec.dtype).itemsize
            if size > LARGE and not variable.trainable:
                warnings.warn(
                    f"{label(node)} takes the whole value of {name} ({size / 2**20:.1f} MiB), which is written later: "
                    "it is copied at every call. Take the rows that are needed with ops.take(variable, indices), "
                    "or look at it after the write",
                    PerformanceWarning,
                    stacklevel=2,
                )
