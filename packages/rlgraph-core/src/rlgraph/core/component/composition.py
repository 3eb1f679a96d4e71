"""Composition: sub-components of a component, and the API methods and graph functions of its class."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator, Mapping
from functools import update_wrapper
from typing import Any, Self, TypeVar, cast

from rlgraph.core.component.members import ApiMethod, GraphFunction, Member
from rlgraph.core.component.options import Options
from rlgraph.core.errors import AssemblyError, nearest
from rlgraph.core.specs.specifiable import Specifiable

Expose = str | Collection[str] | Mapping[str, str]
M = TypeVar("M", bound=Member)


class Composition(Specifiable):
    """Base of `Component` that holds its members and sub-components."""

    scope: str
    scope_path: str
    trainable: bool
    sub_components: dict[str, Self]
    switched_off_apis: frozenset[str]
    #: Scope of a sub-component -> the API methods of this component that forward to it.
    exposed_apis: dict[str, list[str]]

    # Members.

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Check the members of a class, and rename those with `name=`.

        A sub-class may override an API method or graph function only by a member of the same kind.

        Raises:
            AssemblyError: a member is overridden by something else, or two members have one name.
        """
        super().__init_subclass__(**kwargs)
        for attribute, member in list(vars(cls).items()):
            inherited = getattr(super(cls, cls), attribute, None)
            if isinstance(inherited, Member) and not isinstance(member, type(inherited)):
                raise AssemblyError(
                    f"{cls.__qualname__}.{attribute} replaces the {inherited} by {member!r}: decorate it as well"
                )
            if isinstance(member, Member) and member.name != attribute:
                _check_free(cls.__qualname__, member, getattr(cls, member.name, None))
                setattr(cls, member.name, member)
            if isinstance(member, ApiMethod) and (computed := member.graph_function):
                _check_free(cls.__qualname__, computed, getattr(cls, computed.name, None))

    def add_member(self, member: Member) -> None:
        """Add an API method or graph function to this instance, by giving it its own class.

        Raises:
            AssemblyError: an attribute of that name exists.
        """
        kind = type(self)
        known = vars(self).get(member.name, getattr(kind, member.name, None))
        _check_free(getattr(self, "scope_path", kind.__qualname__), member, known)
        # A property of the class, not of the instance, so that copies have it with their own `self`.
        self.__class__ = type(kind.__name__, (kind,), {member.name: member, "__module__": kind.__module__})

    @classmethod
    def api_methods(cls) -> dict[str, Any]:
        """The API methods by name, inherited ones included."""
        return {name: method.function for name, method in cls._members(ApiMethod).items()}

    @classmethod
    def api_method(cls, name: str) -> ApiMethod:
        """The API method `name` with its options."""
        return cls._member(ApiMethod, name)

    @classmethod
    def graph_functions(cls) -> dict[str, GraphFunction]:
        """The graph functions by name, inherited ones included."""
        return cls._members(GraphFunction)

    @classmethod
    def graph_function(cls, name: str) -> GraphFunction:
        """The graph function `name`."""
        return cls._member(GraphFunction, name)

    @classmethod
    def _members(cls, kind: type[M]) -> dict[str, M]:
        found = {n: m for n in dir(cls) if isinstance(m := getattr(cls, n, None), kind)}
        return {n: m for n, m in found.items() if m.options.name in (None, n)}

    @classmethod
    def _member(cls, kind: type[M], name: str) -> M:
        # Look up one name: collecting all members would take much of the time of a build.
        member = getattr(cls, name, None)
        if not isinstance(member, kind) or member.options.name not in (None, name):
            raise KeyError(name)
        return member

    # Sub-components.

    def add_components(self, *components: Composition, expose_apis: Expose = ()) -> None:
        """Add sub-components; only before assembly.

        Args:
            components: the components; a component may be added in several places. It then has the scope of the first
                place, and its variables are shared.
            expose_apis: API methods of `components` that become API methods of this component: a name, several
                names, or a mapping of their names to the names here.

        Raises:
            AssemblyError: not a component, a scope that is taken, or an unknown API method.
        """
        for component in components:
            if not isinstance(component, Composition):
                raise AssemblyError(
                    f"{self.scope}: sub-components must be Components, given {type(component).__name__} {component!r}"
                )
            if any(below is self for below in component.walk()):
                raise AssemblyError(f"{self.scope} cannot be composed inside itself")
            if self.sub_components.get(component.scope, component) is not component:
                raise AssemblyError(
                    f"{self.scope}: two sub-components have the scope {component.scope!r}: give one another scope="
                )
            self.sub_components[component.scope] = cast(Self, component)
            if not self.trainable:
                for below in component.walk():
                    below.trainable = False
        if isinstance(expose_apis, str):
            expose_apis = (expose_apis,)
        renamed = expose_apis if isinstance(expose_apis, Mapping) else {name: name for name in expose_apis}
        for theirs, ours in renamed.items():
            self._expose(components, theirs, ours)

    def _expose(self, components: Collection[Composition], theirs: str, ours: str) -> None:
        owners = [component for component in components if theirs in component.api_methods()]
        if not owners:
            known = {name for component in components for name in component.api_methods()}
            raise AssemblyError(
                f"{self.scope}: expose_apis names {theirs!r}, which none of "
                f"{', '.join(component.scope for component in components)} has. {nearest(theirs, known)}"
            )
        for component in owners:
            self.expose_api(component, theirs, ours)

    def expose_api(self, component: Composition, theirs: str, ours: str) -> None:
        """Add an API method `ours` that forwards to `theirs` of a sub-component."""
        self.add_member(_forwarding(component.scope, component.api_method(theirs), ours))
        self.exposed_apis.setdefault(component.scope, []).append(ours)

    def get_sub_component_by_name(self, name: str) -> Self:
        """The sub-component with that scope; ``a/b`` is ``b`` inside ``a``.

        Raises:
            AssemblyError: unknown scope; names the nearest.
        """
        component = self
        for scope in name.split("/"):
            if scope not in component.sub_components:
                raise AssemblyError(
                    f"{component.scope} has no sub-component {scope!r}. {nearest(scope, component.sub_components)}"
                )
            component = component.sub_components[scope]
        return component

    def get_all_sub_components(self) -> list[Self]:
        """This component and all below it, each once: the deepest ones first, this one last, as in RLgraph 0.5."""
        levels = [[self]]
        while below := [part for component in levels[-1] for part in component.sub_components.values()]:
            levels.append(list(dict.fromkeys(below)))
        return list(dict.fromkeys(component for level in reversed(levels) for component in level))

    def remove_sub_component_by_name(self, name: str) -> Self:
        """Remove and return a sub-component; only before assembly. Names as in `get_sub_component_by_name`.

        Raises:
            AssemblyError: unknown scope, or its API methods are exposed.
        """
        component = self.get_sub_component_by_name(name)
        path, _, scope = name.rpartition("/")
        parent = self.get_sub_component_by_name(path) if path else self
        if scope in parent.exposed_apis:
            exposed = ", ".join(parent.exposed_apis[scope])
            raise AssemblyError(f"{parent.scope} exposes {exposed} of {scope!r}: it cannot be removed")
        del parent.sub_components[scope]
        return component

    def walk(self) -> Iterator[Self]:
        """This component and all below it, each once, parents first."""
        seen: set[int] = set()

        def visit(component: Self) -> Iterator[Self]:
            if id(component) not in seen:
                seen.add(id(component))
                yield component
                for child in component.sub_components.values():
                    yield from visit(child)

        return visit(self)


def _check_free(owner: str, member: Member, known: Any) -> None:
    if known is not None and known is not member and not member.options.ok_to_overwrite:
        shown = str(known) if isinstance(known, Member) else f"attribute {known!r}"
        raise AssemblyError(
            f"{owner}: the {member} would replace the {shown} under the name {member.name!r}: "
            "give it another name, or ok_to_overwrite=True"
        )


def _forwarding(scope: str, method: ApiMethod, name: str) -> ApiMethod:
    """An API method of the parent that only calls `method` of its sub-component at `scope`."""

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.sub_components[scope], method.name)(*args, **kwargs)

    update_wrapper(forward, method.function)
    forward.__signature__ = inspect.signature(method.function)  # type: ignore[attr-defined]
    return ApiMethod(forward, Options(name=name, returns=method.options.returns), method.must_be_complete)
