"""A view of a graph: the choice of what to draw, and the known values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rlgraph.core.graph.component_graph import ComponentGraph
from rlgraph.core.graph.devices import Devices
from rlgraph.core.graph.nodes import (
    ApiCall,
    JoinedVariables,
    Node,
    Output,
    Ref,
    Source,
    VariablesOf,
    walk_nodes,
)
from rlgraph.core.graph.values import Value, leaves, part_at
from rlgraph.core.graph.variables import GradientList, VariableList

_FRESH = re.compile(r"\bN\d+\b")
UNKNOWN = "?"


@dataclass(frozen=True)
class View:
    """The parts of a contracted graph to draw.

    Attributes:
        graph: a contracted component graph.
        values: the known values: all after a build, some after a failed build, None before.
        placed: devices by scope.
        methods: the root API methods to show.
        depth: components nested deeper are not shown; 1 shows the root's own sub-components closed.
        union: one element per API method for inputs and outputs, instead of one per argument and result.
        scope: the component that is shown alone and always opened; None: the root.
        marked_nodes, marked_scopes: the marked place, e.g. of an error.
    """

    graph: ComponentGraph
    values: Mapping[Source, Value] | None
    placed: Mapping[str, Devices]
    methods: list[str]
    depth: int
    union: bool = True
    scope: str | None = None
    marked_nodes: frozenset[int] = field(default_factory=frozenset)
    marked_scopes: frozenset[str] = field(default_factory=frozenset)

    @cached_property
    def nodes(self) -> dict[int, Node]:
        """The nodes of the shown methods, those inside regions too."""
        outer = (self.graph.nodes[i] for m in self.methods for i in self.graph.methods[m].nodes)
        return {node.id: node for node in walk_nodes(outer)}

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """The scopes of the shown components, parents first."""
        reached = {scope for node in self.nodes.values() for scope in self.ancestors(node.component)}
        reached |= {self.graph.root, *([self.scope] if self.scope else [])}
        every = len(self.methods) == len(self.graph.methods)
        return tuple(
            scope
            for scope in self.graph.components
            if len(self.ancestors(scope)) - 1 <= self.depth and (every or scope in reached)
        )

    @cached_property
    def opened(self) -> frozenset[str]:
        """The shown components whose contents are shown."""
        around = {other for scope in self.shown for other in self.ancestors(scope)[:-1]}
        return frozenset(around | {self.scope or self.graph.root})

    def ancestors(self, scope: str) -> list[str]:
        """The scopes from the root down to `scope`."""
        if scope == self.graph.root:
            return [scope]
        parts = scope.split("/")
        return [self.graph.root, *("/".join(parts[: i + 1]) for i in range(len(parts)))]

    def location(self, scope: str) -> list[str]:
        """The scopes from the root down to the innermost shown component around `scope`."""
        return self.ancestors(scope)[: self.depth + 1]

    def calls_around(self, caller: int | None) -> tuple[ApiCall, ...]:
        """The API calls in progress in the body of `caller`, outermost first."""
        chain: list[ApiCall] = []
        while caller is not None:
            chain.append(self.graph.calls[caller])
            caller = chain[-1].caller
        return tuple(reversed(chain))

    def devices(self, scope: str) -> tuple[str, str]:
        """The devices of a component's graph functions and variables; empty if not set."""
        return self.placed[scope].ops, self.placed[scope].variables

    def known(self, ref: Ref) -> Value | None:
        """The known part of a value; None if unknown."""
        if self.values is None or ref.source not in self.values:
            return None
        try:
            return part_at(self.values[ref.source], ref.path)
        except KeyError:
            return None  # the drawing of an error about a missing part

    def tensors(self, ref: Ref) -> list[str]:
        """The type of each tensor of a value, e.g. ``float32[B, 4]``; empty before a build."""
        value = self.known(ref)
        if value is None:
            return [] if self.values is None else [UNKNOWN]
        return [repr(leaf) for _, leaf in leaves(value)]

    def describe(self, ref: Ref) -> str:
        """A short description of a value."""
        if self.values is None:
            node = self.graph.nodes[ref.source.node] if isinstance(ref.source, Output) else None
            return "variables" if isinstance(node, VariablesOf | JoinedVariables) else ""
        value = self.known(ref)
        if isinstance(value, VariableList | GradientList):
            return f"{len(value)} {'variables' if isinstance(value, VariableList) else 'gradients'}"
        # Sizes named by the build are all shown as ``N``.
        found = [_FRESH.sub("N", text) for text in self.tensors(ref)]
        return found[0] if len(found) == 1 else f"{len(found)} tensors"


def clearer(first: str, second: str) -> str:
    """The more specific of two descriptions; a batch ``B`` is preferred to an unnamed size."""
    return min(first, second, key=lambda text: (UNKNOWN in text, text))
