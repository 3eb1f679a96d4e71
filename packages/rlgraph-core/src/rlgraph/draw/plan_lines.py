"""The lines of an outline: the nodes of a plan in the order in which they run, folded into components around them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count, groupby

from rlgraph.core.graph.built_graph import BuiltGraph
from rlgraph.core.graph.nodes import (
    Branch,
    Collective,
    Expression,
    Gradients,
    GraphFunctionCall,
    JoinedVariables,
    Loop,
    Node,
    Output,
    Pack,
    Path,
    Ref,
    VariablesOf,
    arguments_of,
    outputs_of,
    regions_of,
)
from rlgraph.core.graph.plan import BranchStep, CollectiveStep, HostStep, Leaf, LoopStep, Segment, Step
from rlgraph.core.graph.values import Value, leaves, part_at

#: What a loop or branch runs: steps or nodes, and what leaves them.
Regions = tuple[tuple[Sequence[Step | Node], Expression], ...]


@dataclass(frozen=True)
class Line:
    """Calls of graph functions that are shown as one line; or one other node.

    Attributes:
        position: the number of the line.
        nodes: in the order in which they run.
        title: the component's name and the API method that was called, or the graph function.
        parts: what runs: graph functions of the component, and the components right inside it.
        bodies: what a loop or branch runs.
    """

    position: int
    nodes: tuple[Node, ...]
    title: str = ""
    parts: tuple[str, ...] = ()
    bodies: tuple[Body, ...] = ()

    @property
    def outputs(self) -> tuple[Output, ...]:
        """What the nodes return."""
        return tuple(output for node in self.nodes for output in outputs_of(node))

    @property
    def operands(self) -> Iterator[Expression]:
        """What the nodes are given, without what only the bodies of a loop or branch use."""
        for node in self.nodes:
            given = arguments_of(node)
            yield from (expression for _, expression in (given[:-1] if regions_of(node) else given))


@dataclass(frozen=True)
class Body:
    """Lines that run one after the other, and what leaves them. `end` is a position after all of theirs."""

    lines: tuple[Line, ...]
    results: Expression
    end: int

    def walk(self) -> Iterator[Line]:
        """All lines, those of loops and branches after these."""
        for line in self.lines:
            yield line
            for body in line.bodies:
                yield from body.walk()

    @property
    def uses(self) -> Iterator[tuple[int, Expression]]:
        """What is used, each with the position where."""
        for line in self.lines:
            yield from ((line.position, expression) for expression in line.operands)
            for body in line.bodies:
                yield from body.uses
        yield self.end, self.results


class Folding:
    """Folds what runs in a built graph: components nested deeper than `depth` into those around them."""

    def __init__(self, built: BuiltGraph, depth: int):
        self.built, self.depth = built, depth
        self._positions = count()

    def body(self, steps: Sequence[Step | Node], results: Expression) -> Body:
        """The lines of steps, or of the nodes of a region."""
        lines = []
        for _, group in groupby(_in_order(steps), lambda each: self._unit(each[0])):
            nodes, regions = zip(*group, strict=True)
            position = next(self._positions)
            bodies = tuple(self.body(inside, leaving) for inside, leaving in regions[0])
            calls = [node for node in nodes if isinstance(node, GraphFunctionCall)]
            title, parts = (self._title(calls[0]), self._parts(calls)) if calls else ("", ())
            lines.append(Line(position, nodes, title, parts, bodies))
        return Body(tuple(lines), results, next(self._positions))

    def name(self, scope: str) -> str:
        """What shows the component at `scope`: the last part of the scope, or all of it if that is not unique."""
        shown = self._folded(scope)
        last = shown.rpartition("/")[2]
        return last if self._last_parts[last] == 1 else shown

    @cached_property
    def _last_parts(self) -> Counter[str]:
        return Counter(s.rpartition("/")[2] for s in {self._folded(s) for s in self.built.graph.components})

    def _folded(self, scope: str) -> str:
        return "/".join(scope.split("/")[: self.depth])

    def _unit(self, node: Node) -> object:
        """What is equal for nodes that are one line, if they follow each other."""
        if isinstance(node, GraphFunctionCall):
            return self._title(node), self._call(node), node.host
        return node.id

    def _title(self, node: GraphFunctionCall) -> str:
        call = self._call(node)
        function = _plain(node.function) if call is None else self.built.graph.calls[call].method
        return f"{self.name(node.component)}.{function}"

    def _call(self, node: Node) -> int | None:
        """The call by which the line's component is entered; None: the component has others that are not folded."""
        graph, scope = self.built.graph, self._folded(node.component)
        is_open = any(s.startswith(f"{scope}/") and self._folded(s) != scope for s in graph.components)
        if scope == graph.root or is_open:
            return None
        call = node.caller
        while call is not None:
            outer = graph.calls[call].caller
            if outer is None or self._folded(graph.calls[outer].component) != scope:
                break
            call = outer
        return call

    def _parts(self, nodes: Sequence[GraphFunctionCall]) -> tuple[str, ...]:
        found = []
        for node in nodes:
            inside = node.component.split("/")[self.depth :]
            found.append(inside[0] if inside else _plain(node.function))
        parts = tuple(dict.fromkeys(found))
        return () if parts == (self._title(nodes[0]).rpartition(".")[2],) else parts


def leaves_of(
    built: BuiltGraph, expression: Expression, path: Path = ()
) -> Iterator[tuple[Path, Leaf, Value]]:
    """The tensors and lists of variables that an expression refers to, each with its place in the expression."""
    if isinstance(expression, Pack):
        for key, item in expression.items:
            yield from leaves_of(built, item, (*path, key))
    elif isinstance(expression, Ref) and expression.source in built.values:
        for inner, value in leaves(part_at(built.values[expression.source], expression.path)):
            yield (*path, *inner), Leaf(expression.source, (*expression.path, *inner)), value


def _plain(function: str) -> str:
    return function.lstrip("_")


def _in_order(steps: Sequence[Step | Node]) -> Iterator[tuple[Node, Regions]]:
    """The nodes that run, each with what it runs inside."""
    for step in steps:
        if isinstance(step, Segment):
            yield from _in_order(step.nodes)
        elif isinstance(step, HostStep):
            yield step.node, ()
        elif isinstance(step, CollectiveStep):
            yield from ((node, ()) for node in step.nodes)
        elif isinstance(step, LoopStep):
            yield step.node, ((step.steps, step.node.region.results),)
        elif isinstance(step, BranchStep):
            node = step.node
            yield node, ((step.then, node.then.results), (step.otherwise, node.otherwise.results))
        elif isinstance(step, GraphFunctionCall | Gradients | Collective | Loop | Branch):
            yield step, tuple((region.nodes, region.results) for region in regions_of(step))
        else:  # a list of variables is known before a plan runs
            assert isinstance(step, VariablesOf | JoinedVariables)
