"""The component graph: what assembly produces. It knows no framework and no Space."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from rlgraph.core.graph.nodes import ApiCall, Expression, Node


@dataclass(frozen=True)
class RootMethod:
    """One API method of the root: an entry of the graph.

    Attributes:
        name: the method's name.
        parameters: names of its arguments, in order.
        defaults: parameter name -> default value, for those that may be left out.
        call: id of its `ApiCall`.
        nodes: ids of the nodes traced under it, in program order, without those inside regions.
        size_groups: names of arguments in which sizes of one name are one size; default: one group, all of them.
    """

    name: str
    parameters: tuple[str, ...]
    defaults: Mapping[str, Any]
    call: int
    nodes: tuple[int, ...]
    size_groups: tuple[tuple[str, ...], ...] | None = None


@dataclass(frozen=True)
class ComponentGraph:
    """All API methods of one root, traced. Immutable.

    Attributes:
        root: the root's scope.
        components: scope -> component, parents before children.
        methods: API methods of the root by name.
        nodes: id -> node, those inside regions too.
        calls: id -> API call.
    """

    root: str
    components: Mapping[str, Any]
    methods: Mapping[str, RootMethod]
    nodes: Mapping[int, Node]
    calls: Mapping[int, ApiCall]

    def __post_init__(self) -> None:
        for name in ("components", "methods", "nodes", "calls"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def calls_of(self, scope: str) -> Iterator[ApiCall]:
        """The API calls that reach the component at `scope`, in program order."""
        return iter(self._calls_by_component.get(scope, ()))

    @cached_property
    def _calls_by_component(self) -> dict[str, list[ApiCall]]:
        found: dict[str, list[ApiCall]] = {}
        for _, call in sorted(self.calls.items()):
            found.setdefault(call.component, []).append(call)
        return found

    def nodes_of(self, method: str) -> list[Node]:
        """The nodes traced under the root's API method, in program order, without those inside regions."""
        return [self.nodes[id_] for id_ in self.methods[method].nodes]

    def results_of(self, method: str) -> Expression:
        """What the root's API method returns."""
        return self.calls[self.methods[method].call].results

    def below(self, scope: str) -> list[str]:
        """`scope` and the scopes of all components inside it, shared ones that another owns included."""
        inside = {id(component) for component in self.components[scope].walk()}
        return [s for s, component in self.components.items() if id(component) in inside]
