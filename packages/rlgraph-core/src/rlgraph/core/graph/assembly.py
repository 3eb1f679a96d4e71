"""Assembly: every API method of the root runs once with symbols, and what it calls is recorded."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from rlgraph.core.errors import AssemblyError, nearest
from rlgraph.core.former_names import with_present_names
from rlgraph.core.graph.component_graph import ComponentGraph, RootMethod
from rlgraph.core.graph.failure import Failure, explain
from rlgraph.core.graph.nodes import DEFERRED, Input, Ref, VariablesOf
from rlgraph.core.graph.trace import Symbol, Trace, tracing
from rlgraph.spaces import Space, from_spec


def assemble(
    root: Any,
    input_spaces: Mapping[str, Any] | None = None,
    api_methods: Collection[str] | None = None,
    in_group: bool = False,
) -> ComponentGraph:
    """The component graph of `root`. Needs no backend, and no Space but for API methods that flatten an argument.

    Args:
        root: a component.
        input_spaces: as for `build`; API methods with `flatten_ops` see the containers among them, and an argument
            whose default is None and that has no Space is left out: the method gets None.
        api_methods: the root's API methods that are wanted; default: all that are not switched off. Components that
            none of these reaches are left out.
        in_group: several learners will run the graph together: every `gradients` and `all_reduce` is a sum over them.

    Raises:
        AssemblyError: wiring that cannot be, with the component's scope: wrong arity, a cycle, a symbol used as a
            value, two components in one scope.
    """
    input_spaces = None if input_spaces is None else with_present_names(input_spaces)
    components = _collect(root)
    trace = Trace(components, _input_spaces(root, input_spaces or {}), in_group)
    methods: dict[str, RootMethod] = {}
    known = root.api_methods().keys() - root.switched_off_apis
    with tracing(trace), _explained(root.scope_path, components, methods, trace):
        for name in sorted(known if api_methods is None else api_methods):
            if name not in known:
                raise AssemblyError(f"{root.scope_path} has no API method {name!r}. {nearest(name, known)}")
            method = root.api_method(name)
            key = method.options.add_auto_key_as_first_param
            parameters = list(method.signature.parameters.values())[1 + key :]
            for parameter in parameters:
                if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                    raise AssemblyError(
                        f"{root.scope_path}.{name}: a root API method takes no *args or **kwargs"
                    )
            if input_spaces is not None:
                parameters = [p for p in parameters if not _is_left_out(p, name, input_spaces)]
            first_call = set(trace.calls)
            symbols = {p.name: Symbol(Ref(Input(name, p.name))) for p in parameters}
            trace.call_api(root, name, method, (), symbols)
            call = min(set(trace.calls) - first_call)
            methods[name] = RootMethod(
                name,
                tuple(p.name for p in parameters),
                {p.name: p.default for p in parameters if p.default is not p.empty},
                call,
                tuple(node.id for node in trace.take_recorded()),
            )
    if not methods:
        raise AssemblyError(
            f"{root.scope_path} has no API method: decorate at least one method with @rlgraph_api"
        )
    graph = ComponentGraph(root.scope_path, components, methods, trace.nodes, trace.calls)
    return graph if api_methods is None else _without_unreached(graph)


def _without_unreached(graph: ComponentGraph) -> ComponentGraph:
    """The graph of chosen API methods, without the components that only other methods reach.

    What is inside a component whose ``variables()`` are asked for stays, called or not, and so does what is around a
    component that is reached.
    """
    reached = {call.component for call in graph.calls.values()}
    for node in graph.nodes.values():
        reached.update(graph.below(node.component) if isinstance(node, VariablesOf) else [node.component])
    kept = {s: c for s, c in graph.components.items() if not reached.isdisjoint(graph.below(s))}
    return replace(graph, components=kept)


def _is_left_out(parameter: inspect.Parameter, method: str, input_spaces: Mapping[str, Any]) -> bool:
    """Whether an optional argument gets no Space, so that the root does without it."""
    given = input_spaces.get(f"{method}.{parameter.name}", input_spaces.get(parameter.name))
    return parameter.default is None and given is None


@contextmanager
def _explained(
    root: str, components: dict[str, Any], methods: dict[str, RootMethod], trace: Trace
) -> Iterator[None]:
    """Show, in the note of an error, the calls in progress when it happened."""
    try:
        yield
    except Exception as error:
        unfinished = trace.unfinished()
        if unfinished:
            call, names = unfinished[0], tuple(name for name, _ in unfinished[0].arguments)
            nodes = tuple(n for n in trace.nodes if n > call.id)
            started = {**methods, call.method: RootMethod(call.method, names, {}, call.id, nodes)}
            graph = ComponentGraph(root, components, started, trace.nodes, trace.calls)
            last = unfinished[-1]
            explain(error, Failure(graph, None, frozenset((last.id,)), frozenset((last.component,))))
        raise


def _input_spaces(root: Any, given: Mapping[str, Any]) -> dict[Input, Space]:
    """The Spaces of the arguments of the root's API methods, as far as they are given and known by now."""
    spaces = {}
    for method, function in root.api_methods().items():
        for name in inspect.signature(function).parameters:
            space = given.get(f"{method}.{name}", given.get(name))
            if space is not None and not (isinstance(space, str) and space.startswith(DEFERRED)):
                spaces[Input(method, name)] = from_spec(space)
    return spaces


def _collect(root: Any) -> dict[str, Any]:
    """All components by scope, parents first; gives every component its scope path."""
    components: dict[str, Any] = {}

    def visit(component: Any, path: str) -> None:
        if path in components:
            raise AssemblyError(
                f"two components share the scope {path!r}: give one of them another scope=, "
                "or compose one and the same instance"
            )
        if any(component is known for known in components.values()):
            return  # Shared: it belongs to the one that was composed with it first.
        _check_switches(component, path)
        component.scope_path = path
        components[path] = component
        for child in component.sub_components.values():
            visit(child, child.scope if component is root else f"{path}/{child.scope}")

    visit(root, root.scope)
    return components


def _check_switches(component: Any, path: str) -> None:
    if not component.switched_off_apis:
        return
    for name in component.switched_off_apis - component.api_methods().keys():
        raise AssemblyError(
            f"{path}: switched_off_apis names {name!r}, which is no API method. "
            f"{nearest(name, component.api_methods())}"
        )
