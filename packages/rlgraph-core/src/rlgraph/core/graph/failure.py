"""Where a build or an assembly failed, and a few lines that show the graph around that place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rlgraph.core.graph.component_graph import ComponentGraph
from rlgraph.core.graph.nodes import (
    ApiCall,
    Const,
    Expression,
    Node,
    Pack,
    Ref,
    Source,
    arguments_of,
    label,
    outputs_of,
)
from rlgraph.core.graph.values import Value, describe, part_at

_NEIGHBOURS = 2
_WIDTH = 110


@dataclass(frozen=True)
class Failure:
    """The place of an error, as ``error.failure``; ``rlgraph.draw.draw(error)`` draws it.

    Attributes:
        graph: the graph as far as it was assembled.
        values: what was known of values; None if the build had not begun.
        nodes: ids of the failing nodes, or of the API call in progress.
        scopes: scopes of the failing components.
    """

    graph: ComponentGraph
    values: Mapping[Source, Value] | None = None
    nodes: frozenset[int] = field(default_factory=frozenset)
    scopes: frozenset[str] = field(default_factory=frozenset)


def explain(error: Exception, failure: Failure) -> None:
    """Attach `failure` to an error, and a note that shows the graph around it."""
    error.failure = failure  # type: ignore[attr-defined]
    lines = list(surroundings(failure))
    if lines:
        known = ", ? what is not known yet" if any("?" in line for line in lines) else ""
        error.add_note("\n".join([f"The graph around it (>> marks the place{known}):", *lines]))


def surroundings(failure: Failure) -> Iterator[str]:
    """The first failing call with its callers, and the calls before and after it; all failing ones are marked."""
    first = _first(failure)
    if first is None:
        return
    chain = [first]
    while (caller := chain[0].caller) is not None:
        chain.insert(0, failure.graph.calls[caller])
    for depth, call in enumerate(chain):
        # Far from the place the callers are enough.
        near = depth >= len(chain) - 2 and depth > 0
        before, after = _beside(failure.graph, call) if near else ([], [])
        for other in [*before, call]:
            yield from _lines(failure, other, depth)
        if depth == len(chain) - 1:
            for other in after:
                yield from _lines(failure, other, depth)


def _first(failure: Failure) -> Node | ApiCall | None:
    """The call to show: that of a failing graph function, else one of a failing component that waits or the first."""
    graph = failure.graph
    if failure.nodes:
        first = min(failure.nodes)
        return graph.nodes[first] if first in graph.nodes else graph.calls[first]
    calls = [call for call in graph.calls.values() if call.component in failure.scopes]
    return min(calls, key=lambda call: (not _waits(failure, call), call.id), default=None)


def _waits(failure: Failure, call: ApiCall) -> bool:
    return any("?" in _text(failure, expression) for _, expression in call.arguments)


def _beside(graph: ComponentGraph, call: Node | ApiCall) -> tuple[list[Node | ApiCall], list[Node | ApiCall]]:
    """What is called just before and just after `call` in the same body."""
    everything: list[Node | ApiCall] = [*graph.nodes.values(), *graph.calls.values()]
    body = sorted((other for other in everything if other.caller == call.caller), key=lambda other: other.id)
    at = body.index(call)
    return body[max(at - _NEIGHBOURS, 0) : at], body[at + 1 : at + 1 + _NEIGHBOURS]


def _lines(failure: Failure, call: Node | ApiCall, depth: int) -> Iterator[str]:
    if isinstance(call, ApiCall):
        name, arguments = f"{call.component}.{call.method}", call.arguments
        results = _text(failure, call.results)
        marked = call.id in failure.nodes or (not failure.nodes and call.component in failure.scopes)
    else:
        # What a region uses of its surroundings is no argument that somebody wrote.
        name, arguments = label(call), tuple(a for a in arguments_of(call) if a[0] != "captured")
        results = ", ".join(_text(failure, Ref(output)) for output in outputs_of(call))
        marked = call.id in failure.nodes
    texts = {key: _text(failure, e) for key, e in arguments if not isinstance(e, Const)}
    shown = [f"{key}: {text}" if text else key for key, text in texts.items()]
    begin, end = f"{'>>' if marked else '  '} {'  ' * depth}{name}(", f") -> {results}" if results else ")"
    line = begin + ", ".join(shown) + end
    if marked and len(line) > _WIDTH:
        indent = " " * (len(begin) - len(name) + 3)
        yield from [begin, *(f"{indent}{argument}," for argument in shown), f"{indent[4:]}{end}"]
    else:
        yield _shortened(line, _WIDTH)


def _text(failure: Failure, expression: Expression) -> str:
    """What is known of a value: ``?`` if nothing, empty before a build."""
    if failure.values is None or isinstance(expression, Const):
        return ""
    if isinstance(expression, Pack):
        items = {key: _text(failure, item) for key, item in expression.items}
        named = ", ".join(f"{key}: {item}" for key, item in items.items())
        text = f"{{{named}}}" if expression.kind is dict else f"({', '.join(items.values())})"
    elif expression.source in failure.values:
        try:
            text = describe(part_at(failure.values[expression.source], expression.path))
        except KeyError:
            text = "?"
    else:
        text = "?"
    return _shortened(text, _WIDTH // 2)


def _shortened(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."
