"""Loops and branches in a drawing: a dashed box around their calls, with their inputs and outputs.

A component that is also called from outside is drawn outside. A loop that is traced
more than once is one box.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rlgraph.core.graph.nodes import (
    Branch,
    Carried,
    Const,
    Expression,
    Index,
    Loop,
    Node,
    Output,
    Pack,
    Ref,
    Source,
    arguments_of,
    references,
    regions_of,
    walk_nodes,
)
from rlgraph.draw.graph_view import View
from rlgraph.draw.scene import ENTRY, EXIT, REGION, Element

CARRIED, INDEX, COUNT, PREDICATE = "carried", "index", "count", "if"
NEXT, COLLECTED, UNTIL, RESULT = "next", "collected", "until", "result"


class Regions:
    """The region of each element of a view.

    Attributes:
        keys: id of a loop or branch -> key of its box.
        around: id of a node -> keys of the regions around it, outermost first.
    """

    def __init__(self, view: View) -> None:
        self.view = view
        self.keys: dict[int, str] = {}
        self.around: dict[int, tuple[str, ...]] = {}
        self._owner: dict[str, str] = {}
        numbers: dict[tuple[int | None, type], int] = {}
        for node in sorted(view.nodes.values(), key=lambda node: node.id):
            if isinstance(node, Loop | Branch):
                number = numbers[node.caller, type(node)] = numbers.get((node.caller, type(node)), -1) + 1
                self.keys[node.id] = self._key(node, number)
        for node in view.nodes.values():
            self.around.setdefault(node.id, ())
            for inside, region in zip(self._insides(node), regions_of(node), strict=True):
                for inner in walk_nodes(region.nodes):
                    self.around[inner.id] = (*self.around.get(node.id, ()), *inside)
        self._homes: dict[str, tuple[str, ...]] = {}

    def _key(self, node: Loop | Branch, number: int) -> str:
        method = "" if node.caller is None else self.view.graph.calls[node.caller].method
        key = f"{node.component}:{method}.{_kind(node)}-{number}"
        for part in (key, f"{key}.then", f"{key}.otherwise"):
            self._owner[part] = node.component
        return key

    def _insides(self, node: Node) -> list[tuple[str, ...]]:
        """For each region of a node, the keys of the boxes around its contents."""
        if isinstance(node, Loop):
            return [(self.keys[node.id],)]
        if isinstance(node, Branch):
            key = self.keys[node.id]
            return [(key, f"{key}.then"), (key, f"{key}.otherwise")]
        return []

    def within(self, node: Node, component: str) -> tuple[str, ...]:
        """The regions around `node` that belong to `component`."""
        return tuple(key for key in self.around[node.id] if self._owner[key] == component)

    def home(self, scope: str, parent: str) -> tuple[str, ...]:
        """The regions of `parent` that contain all calls of its sub-component `scope`."""
        if scope not in self._homes:
            below = set(self.view.graph.below(scope))
            inside = [self.within(n, parent) for n in self.view.nodes.values() if n.component in below]
            self._homes[scope] = _common_beginning(inside)
        return self._homes[scope]

    def elements(self, node: Loop | Branch, level: int) -> Iterator[tuple[Element, str]]:
        """The boxes of a loop or branch and the elements at their borders, each with its parent's key ("": none)."""
        key = self.keys[node.id]
        if isinstance(node, Loop):
            count = f" × {node.count.value}" if isinstance(node.count, Const) else ""
            yield Element(key, REGION, f"loop{count}", self._carries(node), level=level), ""
        else:
            yield Element(key, REGION, "branch", level=level), ""
            for side in ("then", "otherwise"):
                yield Element(f"{key}.{side}", REGION, side, level=level), key
        for name in _entries(node):
            yield Element(f"{key}.{name}", ENTRY, name, level=level), key
        for name in _exits(node):
            yield Element(f"{key}.{name}", EXIT, name, level=level), key

    def places(self, node: Loop | Branch) -> list[str]:
        """The names of the border nodes where values enter or leave a loop or branch."""
        return [*_entries(node), *_exits(node)]

    def _carries(self, node: Loop) -> str:
        words = []
        if _is_something(node.carried):
            words.append(f"carries {self.view.describe(Ref(Carried(node.id)))}".removesuffix(" "))
        words += ["collects"] if node.collected is not None else []
        words += ["may end early"] if node.stop is not None else []
        return ", ".join(words)

    def border(self, source: Source) -> tuple[Loop | Branch, str] | None:
        """The loop or branch whose border a value comes from, and the name of the border node; None for others."""
        if isinstance(source, Carried | Index):
            node = self.view.graph.nodes.get(source.loop)
            name = CARRIED if isinstance(source, Carried) else INDEX
        elif isinstance(source, Output):
            node = self.view.graph.nodes[source.node]
            name = RESULT if isinstance(node, Branch) else (NEXT, COLLECTED)[source.index > 0]
        else:
            return None
        return (node, name) if isinstance(node, Loop | Branch) else None

    def inflows(self, node: Loop | Branch) -> Iterator[tuple[str, Expression]]:
        """(name of the border node, value) for all values that arrive at the border, from outside and inside."""
        if isinstance(node, Branch):
            yield PREDICATE, node.predicate
            yield RESULT, node.then.results
            yield RESULT, node.otherwise.results
            return
        yield COUNT, node.count
        yield CARRIED, node.carried
        yield NEXT, node.leaving
        if node.collected is not None:
            yield COLLECTED, node.collected
        if node.stop is not None:
            yield UNTIL, node.stop


def _kind(node: Loop | Branch) -> str:
    return "loop" if isinstance(node, Loop) else "branch"


def _entries(node: Loop | Branch) -> list[str]:
    if isinstance(node, Branch):
        return [PREDICATE]
    names = [COUNT] if isinstance(node.count, Ref) else []
    names += [CARRIED] if _is_something(node.carried) else []
    return names + ([INDEX] if _uses(node, Index(node.id)) else [])


def _exits(node: Loop | Branch) -> list[str]:
    if isinstance(node, Branch):
        return [RESULT] if _is_something(node.then.results) else []
    names = [NEXT] if _is_something(node.carried) else []
    names += [COLLECTED] if node.collected is not None else []
    return names + ([UNTIL] if node.stop is not None else [])


def _uses(node: Loop, source: Source) -> bool:
    used = [e for inner in walk_nodes(node.region.nodes) for _, e in arguments_of(inner)]
    return any(ref.source == source for e in [*used, node.region.results] for ref in references(e))


def _is_something(expression: Expression) -> bool:
    nothing = isinstance(expression, Const) and expression.value is None
    return not nothing and not (isinstance(expression, Pack) and not expression.items)


def _common_beginning(chains: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    common: tuple[str, ...] | None = None
    for chain in chains:
        if common is None:
            common = chain
        while common != chain[: len(common)]:
            common = common[:-1]
    return common or ()
