"""The components of a build: which of them are complete, and what the others wait for."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from rlgraph.core.errors import BuildError, BuildWarning, type_and_text
from rlgraph.core.former_names import present_name
from rlgraph.core.graph.component_graph import ComponentGraph
from rlgraph.core.graph.known_values import UNKNOWN, known, value_of
from rlgraph.core.graph.nodes import (
    ApiCall,
    Const,
    Expression,
    GraphFunctionCall,
    Input,
    Node,
    Ref,
    Source,
    VariablesOf,
    label,
)
from rlgraph.core.graph.values import Value, compatible, describe, difference, same_ranks, space_of
from rlgraph.core.graph.variables import VariableList, joined
from rlgraph.spaces import Space, SpaceError

#: An argument of a call of an API method: the call, the name and what is given.
Argument = tuple[ApiCall, str, Expression]


class _NotKnown(Exception):
    """A build hook reads a Space that is not known yet."""


class _KnownSpaces(Mapping[str, Any]):
    """The `input_spaces` of build hooks while some Spaces are not known: to read one of these raises `_NotKnown`.

    Attributes:
        read: the names that were read.
    """

    def __init__(self, spaces: Mapping[str, Any], unknown: Collection[str]):
        self._spaces, self._unknown = spaces, unknown
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        name = present_name(name)
        if name in self._unknown:
            raise _NotKnown
        space = self._spaces[name]
        self.read.add(name)
        return space

    def __iter__(self) -> Iterator[str]:
        yield from self._spaces
        if self._unknown:
            raise _NotKnown

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass
class Components:
    """The components of a contracted graph while it is built.

    Attributes:
        graph: the contracted graph.
        values: what is known so far of inputs and outputs.
        input_spaces: root method -> argument -> Space, as far as known.
        action_space: passed to the components' build hooks.
        created: the scopes whose variables are created.
        ahead: those among them that were created while some Spaces were not known -> the Space of each argument that
            the hooks read by its bare name, with the call that it is of.
        attributes: those of each component before its build hooks ran.
    """

    graph: ComponentGraph
    values: Mapping[Source, Value]
    input_spaces: Mapping[str, Mapping[str, Space]]
    action_space: Space | None
    created: set[str] = field(default_factory=set)
    ahead: dict[str, list[Argument]] = field(default_factory=dict)
    attributes: dict[str, dict[str, Any]] = field(default_factory=dict)

    def is_reached(self, scope: str) -> bool:
        """Whether a component is built: it needs no Spaces, or it is called."""
        component = self.graph.components[scope]
        return not component.needs_input_spaces() or any(True for _ in self.graph.calls_of(scope))

    def check_unused(self) -> None:
        """Warn of components that no API method reaches and that are left out; an exposed one is an error."""
        called = {call.component for call in self.graph.calls.values()}
        nodes = self.graph.nodes.values()
        called |= {node.component for node in nodes if not isinstance(node, VariablesOf)}
        unused: list[str] = []
        for scope, component in self.graph.components.items():
            if called.isdisjoint(self.graph.below(scope)):
                for parent, other in self.graph.components.items():
                    if other.sub_components.get(component.scope) is component:
                        self._check_exposed(parent, component)
                if not any(scope in self.graph.below(parent) for parent in unused):
                    unused.append(scope)
        for scope in unused:
            self._check_variables_wanted(scope)
            if not all(map(self.is_reached, self.graph.below(scope))):
                warnings.warn(
                    f"component {scope} is part of {self.graph.root}, but no API method calls it: it is left out",
                    BuildWarning,
                    stacklevel=5,
                )

    def _check_variables_wanted(self, scope: str) -> None:
        """Raise `BuildError` if variables are asked for that nothing will create."""
        for node in self.graph.nodes.values():
            if isinstance(node, VariablesOf) and node.component in self.graph.below(scope):
                missing = [each for each in self.graph.below(node.component) if not self.is_reached(each)]
                if missing:
                    raise BuildError(
                        f"{label(node)}() is asked for, but no API method calls {missing[0]}, so that its variables "
                        f"are never created: call an API method of {missing[0]}, which gives it its Spaces"
                    )

    def _check_exposed(self, parent: str, component: Any) -> None:
        for name in self.graph.components[parent].exposed_apis.get(component.scope, ()):
            raise BuildError(
                f"{parent}.{name} exposes an API method of {component.scope_path}, and nothing calls it: call "
                f"{parent}.{name} in an API method, or expose it there as well"
            )

    def arguments(self, scope: str) -> Iterator[Argument]:
        """The arguments of all calls of a component that its completeness depends on."""
        component = self.graph.components[scope]
        for call in self.graph.calls_of(scope):
            if component.api_method(call.method).must_be_complete:
                for name, expression in call.arguments:
                    yield call, name, expression

    def try_create(self, scope: str, *, ahead: bool = False) -> bool:
        """Create the variables of the component at `scope` if the Spaces that they depend on are known.

        Args:
            scope: the component's scope.
            ahead: those that its build hooks read are enough, `confirm` checks the others; default: all.

        Raises:
            BuildError: two calls give an argument Spaces that do not go together.
            SpaceError: the component refuses a Space.
        """
        component = self.graph.components[scope]
        if component.needs_input_spaces():
            arguments = list(self.arguments(scope))
            if not ahead and any(self._is_unknown(scope, argument) for argument in arguments):
                return False
            ready = self._ready(scope, arguments)
            self.attributes[scope] = dict(vars(component))
            try:
                read = self._check_spaces(scope, ready, arguments, create=True)
            except _NotKnown:
                self.undo(scope)
                return False
            if len(ready) < len(arguments):
                self.ahead[scope] = [argument for argument in _first(ready) if argument[1] in read]
        self.created.add(scope)
        return True

    def undo(self, scope: str) -> None:
        """Take back what the build hooks of a component did: they run again later, on the attributes of now."""
        component = self.graph.components[scope]
        if scope in self.attributes:
            vars(component).clear()
            vars(component).update(self.attributes.pop(scope))
        component.declared_variables.clear()

    def confirm(self, scope: str) -> None:
        """Check that a component that was created ahead fits all of its calls that are known by now.

        Raises:
            BuildError, SpaceError: as `try_create`.
        """
        arguments = list(self.arguments(scope))
        ready = self._ready(scope, arguments)
        self._check_bare_names(scope, ready)
        with suppress(_NotKnown):
            self._check_spaces(scope, ready, arguments)
        if len(ready) == len(arguments):
            del self.ahead[scope]

    def _check_bare_names(self, scope: str, ready: Sequence[Argument]) -> None:
        """Raise `BuildError` if the bare name of an argument would mean another Space now than when it was read."""
        now = {name: (call, value_of(e, self.values)) for call, name, e in _first(ready)}
        for call, name, expression in self.ahead[scope]:
            (first, value), read = now[name], value_of(expression, self.values)
            if first.method != call.method and not compatible(read, value):
                raise BuildError(
                    f"{scope} was created for {name!r} of {call.method}, {describe(read)}, and {first.method}, which "
                    f"is called earlier, gives {name!r} as {describe(value)}: read "
                    f"input_spaces[{f'{call.method}.{name}'!r}] in its build hooks"
                )

    def _ready(self, scope: str, arguments: Sequence[Argument]) -> list[Argument]:
        """The arguments of those calls of which all Spaces are known."""
        unknown = {argument[0].id for argument in arguments if self._is_unknown(scope, argument)}
        return [argument for argument in arguments if argument[0].id not in unknown]

    def _is_unknown(self, scope: str, argument: Argument) -> bool:
        call, name, expression = argument
        return known(f"{scope}.{call.method}", {name: expression}, self.values)[name] is UNKNOWN

    def _check_spaces(
        self, scope: str, ready: Sequence[Argument], arguments: Sequence[Argument], *, create: bool = False
    ) -> set[str]:
        """Let a component check the Spaces of the `ready` ones of its arguments and, if asked to, create its variables.

        Returns:
            The names of the Spaces that it read to create them.

        Raises:
            _NotKnown: it reads another one.
            SpaceError: it refuses a Space.
            BuildError: it fails on these Spaces.
        """
        component, hook = self.graph.components[scope], "check_input_spaces"
        sets = self._space_sets(scope, ready)
        names = {n for method, name in _given(arguments) - _given(ready) for n in (name, f"{method}.{name}")}

        def known_of(spaces: dict[str, Any]) -> _KnownSpaces:
            return _KnownSpaces(spaces, names - spaces.keys())

        try:
            for spaces in sets:
                component.check_input_spaces(known_of(spaces), self.action_space)
            if not create:
                return set()
            # What only later calls give, has its Space of these.
            spaces = {name: space for given in reversed(sets) for name, space in given.items()}
            known_spaces, hook = known_of(spaces), "create_variables"
            component.create_variables(known_spaces, self.action_space)
        except SpaceError as error:
            named = re.search(rf"(?<![\w-]){re.escape(scope)}[:/.]", str(error))
            raise _with_argument(error if named else error.under(scope), spaces) from error
        except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
            shown = ", ".join(f"{name}: {space!r}" for name, space in spaces.items() if "." not in name)
            raise BuildError(f"{scope}.{hook}({shown}) failed: {type_and_text(error)}") from error
        return known_spaces.read

    def _space_sets(self, scope: str, arguments: Sequence[Argument]) -> list[dict[str, Any]]:
        """The Spaces that a component is called with, first those of the first call of each method.

        Calls of a method may differ in batch and time ranks. Each that differs from those before makes a set of its
        own, with the first calls of the other methods.
        """
        calls: dict[int, tuple[ApiCall, dict[str, Expression]]] = {}
        for call, name, expression in arguments:
            given = calls.setdefault(call.id, (call, {}))[1]
            if not isinstance(expression, Const):
                given[name] = expression
        seen: dict[str, list[tuple[Value, ApiCall, Any]]] = {}
        distinct: dict[str, list[dict[str, Any]]] = {}
        for call, given in calls.values():
            spaces = {
                name: self._argument_space(scope, call, name, expression, seen)
                for name, expression in given.items()
            }
            known_sets = distinct.setdefault(call.method, [])
            if spaces not in known_sets:
                known_sets.append(spaces)
        sets = [_named({method: every[0] for method, every in distinct.items()})]
        for method, every in distinct.items():
            others = {name: spaces[0] for name, spaces in distinct.items() if name != method}
            sets.extend(_named({method: spaces, **others}) for spaces in every[1:])
        return sets

    def _argument_space(
        self,
        scope: str,
        call: ApiCall,
        name: str,
        expression: Expression,
        seen: dict[str, list[tuple[Value, ApiCall, Any]]],
    ) -> Any:
        """The Space of an argument: that of the first call with the same ranks, of which `seen` keeps account."""
        value, others = value_of(expression, self.values), seen.setdefault(f"{call.method}.{name}", [])
        for other, _, space in others:
            if same_ranks(other, value):
                return space
        if others:
            self._check_agree(scope, name, *others[0][:2], value, call)
        space = self._space_of(scope, call, name, expression, value)
        others.append((value, call, space))
        return space

    def _check_agree(
        self, scope: str, name: str, first: Value, first_call: ApiCall, value: Value, call: ApiCall
    ) -> None:
        """Raise `BuildError` unless two calls of a method give an argument Spaces that go together."""
        component = self.graph.components[scope]
        shown = f"{describe(first)} and {describe(value)} (by {self._caller(first_call)} and {self._caller(call)})"
        if not compatible(first, value):
            raise BuildError(
                f"{scope}.{call.method} is called with two different Spaces for {name!r}: {shown}"
                f"{difference(first, value)}"
            )
        if not component.ranks_may_differ:
            raise BuildError(
                f"{scope}.{call.method} is called with different batch and time ranks for {name!r}: {shown}. A "
                f"{type(component).__name__} is made for the ranks of one: give each caller one of its own"
            )

    def _caller(self, call: ApiCall) -> str:
        if call.caller is None:
            return f"input_spaces of {call.method}"
        caller = self.graph.calls[call.caller]
        return f"{caller.component}.{caller.method}"

    def _space_of(self, scope: str, call: ApiCall, name: str, expression: Expression, value: Value) -> Any:
        # An input that arrives unchanged keeps its own Space: per-element bounds do not fit into a TensorSpec.
        if isinstance(expression, Ref) and isinstance(expression.source, Input):
            space: Any = self.input_spaces[expression.source.method][expression.source.name]
            for key in expression.path:
                space = space[key]
            return space
        try:
            return space_of(value)
        except ValueError as error:
            raise BuildError(f"{scope}.{call.method}: argument {name!r}: {error}") from error

    def function(self, node: GraphFunctionCall) -> Any:
        """The graph function that `node` calls."""
        return self.graph.components[node.component].graph_function(node.function)

    def needs_variables(self, node: Node) -> bool:
        """Whether a node waits for the variables of its component and of all below it."""
        if isinstance(node, VariablesOf):
            return True
        if not isinstance(node, GraphFunctionCall):
            return False
        if self.function(node).options.requires_variable_completeness:
            return True
        if node.caller is None:
            return False
        call = self.graph.calls[node.caller]
        method = self.graph.components[call.component].api_method(call.method)
        return method.options.requires_variable_completeness

    def lacking(self, scope: str) -> list[str]:
        """The components at and below `scope` whose variables are not yet known."""
        return [s for s in self.graph.below(scope) if self.is_reached(s) and s not in self.created]

    def variables_below(self, scope: str, trainable_only: bool = False) -> VariableList:
        """The tensor variables at and below `scope`, or the trainable ones among them, sorted by scoped name."""
        declared = (self.graph.components[s].declared_variables for s in self.graph.below(scope))
        found = [v for variables in declared for v in variables.values() if not v.host]
        if trainable_only:
            found = [v for v in found if v.trainable]
        return joined(found)


def _given(arguments: Iterable[Argument]) -> set[tuple[str, str]]:
    """The (method, name) of those arguments that are no constants."""
    return {(call.method, name) for call, name, expression in arguments if not isinstance(expression, Const)}


def _first(arguments: Iterable[Argument]) -> Iterable[Argument]:
    """The first of each name among those that are no constants: of these `_named` takes the Spaces of bare names."""
    first: dict[str, Argument] = {}
    for argument in arguments:
        if not isinstance(argument[2], Const):
            first.setdefault(argument[1], argument)
    return first.values()


def _named(methods: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The Spaces of arguments as ``method.argument`` and as ``argument``, of the first method that has such a one."""
    spaces: dict[str, Any] = {}
    for method, given in methods.items():
        for name, space in given.items():
            spaces[f"{method}.{name}"] = space
            spaces.setdefault(name, space)
    return spaces


def _with_argument(error: SpaceError, spaces: Mapping[str, Any]) -> SpaceError:
    """The error, with the argument whose Space it shows where it does not name one itself."""
    text = str(error)
    names = [name for name in spaces if "." not in name]
    if not any(re.search(rf"\b{name}\b", text) for name in names):
        shown = names if len(names) == 1 else [name for name in names if repr(spaces[name]) in text]
        text = f"{text} (argument {shown[0]})" if shown else text
    named = SpaceError(text)
    vars(named).update(vars(error))
    return named
