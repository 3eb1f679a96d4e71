"""The wires of a scene: the path of every value from its source to its use, cut at the borders it crosses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rlgraph.core.graph.nodes import (
    ApiCall,
    Branch,
    Expression,
    Input,
    JoinedVariables,
    Loop,
    Output,
    Ref,
    VariablesOf,
    arguments_of,
    label,
    references,
)
from rlgraph.draw.elements import LONGEST_LABEL, Elements, flat, input_key
from rlgraph.draw.graph_view import clearer
from rlgraph.draw.regions import CARRIED, NEXT
from rlgraph.draw.scene import End, Wire

VARIABLES = "variables"
#: The source or the use of a value: keys from the root down, and the API calls around it.
Place = tuple[tuple[str, ...], tuple[ApiCall, ...]]


class Flows:
    """All wires between `elements`. `wires` are in program order, `labels` describe the values at an end."""

    def __init__(self, elements: Elements) -> None:
        self.elements, self.view, self.graph = elements, elements.view, elements.graph
        self.wires: dict[tuple[str, End, End], Wire] = {}
        self.carried: dict[End, dict[tuple[Any, ...], str]] = {}
        for method in self.view.methods:
            call = self.graph.calls[self.graph.methods[method].call]
            for name, expression in flat(self.graph.results_of(method)):
                key = elements.output_key(method, name)
                self._connect(expression, ((self.graph.root, key), (call,)))
        for node in self.view.nodes.values():
            calls = self.view.calls_around(node.caller)
            if isinstance(node, Loop | Branch):
                for name, expression in elements.regions.inflows(node):
                    self._connect(expression, (elements.border(node, name), calls))
                self._close_circle(node, calls)
                continue
            for _, expression in arguments_of(node):
                self._connect(expression, (elements.place(node), calls))

    @property
    def by_container(self) -> dict[str, list[Wire]]:
        """The wires by the key of their container."""
        wires: dict[str, list[Wire]] = {}
        for wire in self.wires.values():
            wires.setdefault(wire.container, []).append(wire)
        return wires

    @property
    def labels(self) -> dict[End, str]:
        """Short descriptions of the values that leave an end."""
        return {end: text for end, carried in self.carried.items() if (text := _label(carried))}

    def _connect(self, expression: Expression, target: Place) -> None:
        for ref in references(expression):
            source = self._origin(ref)
            if source is not None:
                self._flow(ref, source, target)

    def _origin(self, ref: Ref) -> Place | None:
        """The source of a value; None if it is not shown."""
        border = self.elements.regions.border(ref.source)
        if border is not None:
            return self.elements.border(*border), self.view.calls_around(border[0].caller)
        if isinstance(ref.source, Output):
            node = self.graph.nodes[ref.source.node]
            return self.elements.place(node), self.view.calls_around(node.caller)
        if isinstance(ref.source, Input):
            method = self.graph.methods[ref.source.method]
            key = input_key(method.name, "" if self.view.union else ref.source.name)
            # Values enter an API method of the root that another one calls from inside, not through its input.
            if key in self.elements.by_key:
                return (self.graph.root, key), (self.graph.calls[method.call],)
        return None

    def _close_circle(self, node: Loop | Branch, calls: tuple[ApiCall, ...]) -> None:
        """Add the wire of carried values from one iteration to the next."""
        entry, leaving = self.elements.border(node, CARRIED), self.elements.border(node, NEXT)
        if {entry[-1], leaving[-1]} <= self.elements.by_key.keys() and entry != leaving:
            self._add_wire(entry[-2], End(leaving[-1]), End(entry[-1]), self._owner(calls), False)

    def _owner(self, calls: Sequence[ApiCall]) -> str:
        """The innermost root API method among `calls`: what `a` calls by calling `b` is shown as `b`'s."""
        return [c.method for c in calls if c.component == self.graph.root][-1 if self.view.union else 0]

    def _add_wire(self, container: str, start: End, end: End, owner: str, variables: bool) -> None:
        wire = self.wires.setdefault((container, start, end), Wire(container, start, end))
        wire.methods.add(owner)
        wire.variables &= variables

    def _flow(self, ref: Ref, source: Place, target: Place) -> None:
        """Add the chain of wires of one value."""
        (out, out_chain), (into, into_chain) = source, target
        shared = _common(out, into)
        if shared in (len(out), len(into)):
            return  # within one closed component, or a component's variables passed to its own parts
        frames = _common(out_chain, into_chain)
        node = self.graph.nodes[ref.source.node] if isinstance(ref.source, Output) else None
        variables = isinstance(node, VariablesOf | JoinedVariables)
        owner = self._owner(out_chain[:frames])
        leaving = self._ends(out[shared:], out_chain, frames)
        if variables:
            leaving = [End(end.key, VARIABLES) for end in leaving]
        entering = self._ends(into[shared:], into_chain, frames)
        steps = [
            *((out[shared + i - 1], leaving[i], leaving[i - 1]) for i in range(len(leaving) - 1, 0, -1)),
            (out[shared - 1], leaving[0], entering[0]),
            *((into[shared + i - 1], entering[i - 1], entering[i]) for i in range(1, len(entering))),
        ]
        for container, start, end in steps:
            self._add_wire(container, start, end, owner, variables)
        if not isinstance(ref.source, Input):
            text = self.view.describe(ref)
            for end in leaving:
                carried = self.carried.setdefault(end, {})
                what = self._what(ref, out)
                carried[what] = clearer(text, carried.get(what, text))

    def _ends(self, keys: tuple[str, ...], chain: tuple[ApiCall, ...], frames: int) -> list[End]:
        """The ports through which a value passes on its way to the innermost of `keys`."""
        ends: list[End] = []
        for key in reversed(keys):
            port = _port(key, chain, frames)
            if not port and ends:
                # A region, or an inner component that was called from elsewhere.
                port = ".".join(filter(None, [self.elements.by_key[ends[0].key].title, ends[0].port]))
            ends.insert(0, End(key, port))
        return ends

    def _what(self, ref: Ref, out: tuple[str, ...]) -> tuple[Any, ...]:
        """A key that is equal for all calls of one graph function."""
        if not isinstance(ref.source, Output):
            return out, ref.path
        return label(self.graph.nodes[ref.source.node]), ref.source.index, ref.path


def _common(first: tuple[Any, ...], second: tuple[Any, ...]) -> int:
    """The length of the common prefix of two sequences."""
    for i, (a, b) in enumerate(zip(first, second, strict=False)):
        if a != b:
            return i
    return min(len(first), len(second))


def _port(key: str, chain: Iterable[ApiCall], frames: int) -> str:
    """The API method through which a value passes the border of component `key`."""
    calls = list(chain)
    own = [c.method for c in calls[frames:] if c.component == key] or [
        c.method for c in calls if c.component == key
    ]
    return own[0] if own else ""


def _label(carried: dict[tuple[Any, ...], str]) -> str:
    """A short description of the values that leave a port."""
    text = ", ".join(dict.fromkeys(filter(None, carried.values())))
    return text if len(text) <= LONGEST_LABEL else f"{len(carried)} tensors"
