"""Deadlocks: which components wait for each other in a build that cannot continue."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rlgraph.core.graph.completeness import Components
from rlgraph.core.graph.known_values import UNKNOWN, value_of
from rlgraph.core.graph.nodes import (
    Carried,
    Expression,
    Input,
    Node,
    Output,
    VariablesOf,
    arguments_of,
    label,
    references,
)

_ADVICE = (
    "break the cycle: let the build hooks of one component read none of these Spaces, "
    "or mark the API method with @rlgraph_api(must_be_complete=False)"
)


@dataclass(frozen=True)
class Deadlock:
    """A build that cannot go on.

    Attributes:
        components: its components.
        pending: the nodes that are not inferred, by id.
        waiting: the scopes whose variables are not created.
        deferred: inputs that hold the variables of a component -> its scope.
    """

    components: Components
    pending: Mapping[int, Node]
    waiting: Collection[str]
    deferred: Mapping[Input, str]

    def message(self) -> str:
        """Who waits for what, the cycle, and how to break it."""
        lines = ["the build cannot go on:"]
        for scope in self.waiting:
            for call, name, expression in self.components.arguments(scope):
                if value_of(expression, self.components.values) is UNKNOWN:
                    lines.append(
                        f"  {scope}: argument {name} of {call.method} has no Space; it is supplied by "
                        f"{self._supplier(expression)}"
                    )
        for node in self.pending.values():
            if self.components.needs_variables(node):
                missing = ", ".join(self.components.lacking(node.component))
                brackets = "()" if isinstance(node, VariablesOf) else ""
                lines.append(f"  {label(node)}{brackets} waits for the variables of {missing}")
            elif node.component in self.waiting:
                lines.append(f"  {label(node)} waits for its component {node.component}")
        cycle = find_cycle(self._waits())
        if cycle:
            lines.append("the cycle: " + " waits for ".join(cycle))
        lines.append(self._own_variables() or _ADVICE)
        # What is called from many places waits at each of them for the same.
        return "\n".join(dict.fromkeys(lines))

    def _own_variables(self) -> str:
        """What to do where a component is given variables among which are its own."""
        for node in self.pending.values():
            if isinstance(node, VariablesOf):
                for scope in self.components.lacking(node.component):
                    given = (e for _, _, e in self.components.arguments(scope))
                    if any(ref.source == Output(node.id) for e in given for ref in references(e)):
                        return (
                            f"{label(node)}() holds the variables of {scope}, too, which is a part of "
                            f"{node.component}: give {scope} the variables() of the other parts, joined by +; "
                            f"variables that {node.component} declares itself belong into a part of their own"
                        )
        return ""

    def _supplier(self, expression: Expression) -> str:
        for ref in references(expression):
            if isinstance(ref.source, Output) and ref.source.node in self.pending:
                return f"output {ref.source.index} of {label(self.pending[ref.source.node])}"
            if isinstance(ref.source, Input) and ref.source in self.deferred:
                scope = self.deferred[ref.source]
                return f"the input {ref.source.name}, which holds the variables of {scope}"
            if isinstance(ref.source, Carried) and ref.source.loop in self.pending:
                return f"what {label(self.pending[ref.source.loop])} carries"
        return "nothing"

    def _waits(self) -> dict[str, list[str]]:
        """Name of a component or node -> names of what it waits for."""

        def sources(expression: Expression) -> Iterator[str]:
            for ref in references(expression):
                if isinstance(ref.source, Output) and ref.source.node in self.pending:
                    yield label(self.pending[ref.source.node])
                if isinstance(ref.source, Input) and ref.source in self.deferred:
                    yield from self.components.lacking(self.deferred[ref.source])
                if isinstance(ref.source, Carried) and ref.source.loop in self.pending:
                    yield label(self.pending[ref.source.loop])

        waits = {s: [n for _, _, e in self.components.arguments(s) for n in sources(e)] for s in self.waiting}
        for node in self.pending.values():
            own = waits.setdefault(label(node), [])
            own.extend(name for _, e in arguments_of(node) for name in sources(e))
            own.extend(
                self.components.lacking(node.component) if self.components.needs_variables(node) else []
            )
            own.extend([node.component] if node.component in self.waiting else [])
        return waits


def find_cycle(waits: Mapping[str, Sequence[str]]) -> list[str]:
    """The first cycle among `waits` (name -> what it waits for), beginning and ending with one name; [] if none."""
    done: set[str] = set()

    def search(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for other in waits.get(name, ()):
            cycle = search(other, [*path, name])
            if cycle:
                return cycle
        done.add(name)
        return []

    return next((cycle for name in waits if (cycle := search(name, []))), [])
