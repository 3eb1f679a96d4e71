"""Equal learners: how a group goes on is decided by what all of its learners have.

A value is equal on all learners if it is a constant, the fraction of training done, the result of a collective, a
variable that only such values change, or computed from such values. Everything else may differ: records, random
numbers, what host functions return. If the learners of a group took different ways, some would wait forever for others.

Before::

    %1 = loss.kl(states)
    loop until %1 > 0.02:
        %2 = all_reduce(...)      # refused: one learner may end the loop before the others
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rlgraph.core.errors import BuildError
from rlgraph.core.graph.component_graph import ComponentGraph
from rlgraph.core.graph.nodes import (
    Branch,
    Carried,
    Collective,
    Expression,
    Gradients,
    Input,
    Loop,
    Node,
    Output,
    Source,
    arguments_of,
    label,
    outputs_of,
    references,
    regions_of,
    walk_nodes,
)
from rlgraph.core.ops.effects import Effects

#: The argument of root API methods that is the same on all learners.
EQUAL_INPUT = "progress"


def check_equal_learners(graph: ComponentGraph, effects: Mapping[int, Effects]) -> None:
    """Check that all learners come to every collective, and that what they train stays equal.

    Raises:
        BuildError: a loop or branch around a collective is decided by what may differ, or a trained variable is written
            from such.
    """
    methods = [graph.nodes_of(name) for name in graph.methods]
    if not any(isinstance(node, Collective) for nodes in methods for node in walk_nodes(nodes)):
        return
    learners = _Learners(effects)
    known = -1
    while known < len(learners.variables):  # what differs may go into a variable that was read before
        known = len(learners.variables)
        for nodes in methods:
            learners.walk(nodes)
    for nodes in methods:
        learners.check(nodes)


class _Learners:
    def __init__(self, effects: Mapping[int, Effects]):
        self.effects = effects
        #: What may differ: values, and names of variables -> the first node that writes one.
        self.sources: set[Source] = set()
        self.variables: dict[str, Node] = {}

    def walk(self, nodes: Iterable[Node], decided: bool = False) -> None:
        """Find out what may differ among the outputs and writes of nodes.

        Args:
            nodes: in order.
            decided: whether learners may differ in running them.
        """
        for node in nodes:
            if isinstance(node, Loop):
                self._walk_loop(node, decided)
            elif isinstance(node, Branch):
                inside = decided or self._differs(node.predicate)
                for region in regions_of(node):
                    self.walk(region.nodes, inside)
                if inside or any(self._differs(region.results) for region in regions_of(node)):
                    self.sources.add(Output(node.id))
            elif not isinstance(node, Collective):
                self._walk_call(node, decided)

    def _walk_call(self, node: Node, decided: bool) -> None:
        own = self.effects[node.id]
        differs = own.host or bool(own.draws) or not own.reads.isdisjoint(self.variables)
        if differs or self._differs(*(e for _, e in arguments_of(node))):
            self.sources.update(outputs_of(node))
        elif not decided:
            return
        for name in own.writes - own.draws:
            self.variables.setdefault(name, node)

    def _walk_loop(self, node: Loop, decided: bool) -> None:
        known, around = -1, {Carried(node.id)} if self._differs(node.carried) else set[Source]()
        self.sources |= around
        while known < len(self.sources):
            known = len(self.sources)
            inside = decided or self._decides(node) is not None
            self.walk(node.region.nodes, inside)
            if inside or self._differs(node.leaving):
                self.sources.add(Carried(node.id))
        if Carried(node.id) in self.sources:
            self.sources.add(Output(node.id, 0))
        if node.collected is not None and (inside or self._differs(node.collected)):
            self.sources.add(Output(node.id, 1))

    def _decides(self, node: Node) -> str | None:
        """What decides how often the regions of a node run, if learners may differ in it."""
        if isinstance(node, Branch):
            return "predicate" if self._differs(node.predicate) else None
        if isinstance(node, Loop) and self._differs(node.count):
            return "count"
        return "until" if isinstance(node, Loop) and node.stop and self._differs(node.stop) else None

    def _differs(self, *expressions: Expression) -> bool:
        return any(
            ref.source in self.sources or (isinstance(ref.source, Input) and ref.source.name != EQUAL_INPUT)
            for expression in expressions
            for ref in references(expression)
        )

    def check(self, nodes: Sequence[Node]) -> None:
        """Raise `BuildError` where learners would part."""
        for node in walk_nodes(nodes):
            inside = [n for n in walk_nodes([node]) if isinstance(n, Collective)] if regions_of(node) else []
            if inside and (what := self._decides(node)) is not None:
                raise BuildError(
                    f"{label(node)}: the {what} may differ from learner to learner, and {label(inside[0])}(...) inside "
                    "waits for all of them: decide on what all_reduce(...) returns"
                )
            if isinstance(node, Gradients):
                for name in sorted(self.effects[node.id].reads & self.variables.keys()):
                    writer = self.variables[name]
                    if any(n is writer for n in walk_nodes(nodes)):
                        raise BuildError(
                            f"{label(writer)}: it writes {name}, which {label(node)} trains, from what may differ "
                            "from learner to learner: weights must stay equal. Use what all_reduce(...) returns"
                        )
