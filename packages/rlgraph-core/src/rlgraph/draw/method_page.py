"""A page about one API method: its plan, its values, the source of its functions, and the papers."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from rlgraph.core.graph.built_graph import BuiltGraph
from rlgraph.core.graph.emission.source import leaf_name
from rlgraph.core.graph.nodes import GraphFunctionCall, label, outputs_of, walk_nodes
from rlgraph.core.graph.plan import Leaf, Plan
from rlgraph.core.graph.values import describe
from rlgraph.draw.drawing import plan_of
from rlgraph.draw.pages import Block, Bullets, Code, Heading, Page, Prose, Table
from rlgraph.draw.papers import cited

#: A Python function -> its calls in the plan, as (component, graph function).
Called = dict[Callable[..., Any], list[tuple[Any, Any]]]


def method_page(built: Any, method: str) -> Page:
    """A page about an API method: plan, values, functions and papers.

    Nothing is run, so it also shows updates where the backend has no gradients.

    Args:
        built: a `BuiltGraph` or a graph executor.
        method: name of an API method of the root.

    Raises:
        RLGraphError: the graph is not built, or the method is unknown.
    """
    return Page(tuple(_blocks(plan_of(built, method))))


def _blocks(plan: Plan) -> Iterator[Block]:
    built, root = plan.built, plan.built.graph.root
    called = _called(plan)
    helpers = _helpers(called)
    yield Heading(f"{root}.{plan.name}", 1)
    yield from _introduction(plan)
    yield Heading("Plan")
    yield Prose("The calls at run time, without components. The values are listed below.")
    yield Code(plan.source)
    yield Heading("Values")
    yield Table(("value", "source", "type"), tuple(_values(plan)))
    yield Heading("Functions")
    for function, calls in called.items():
        yield from _function(function, calls)
    if helpers:
        yield Heading("Helper functions")
        for helper in helpers:
            yield Heading(f"{helper.__module__}.{helper.__qualname__}", 3)
            yield Code(_source(helper))
    papers = cited(_docstrings(built, called, helpers))
    if papers:
        yield Heading("Papers")
        yield Bullets(tuple(map(str, papers)))


def _introduction(plan: Plan) -> Iterator[Block]:
    component = plan.built.graph.components[plan.built.graph.root]
    member = getattr(type(component), plan.name, None)
    for documented in (type(component), member):
        text = inspect.cleandoc(getattr(documented, "__doc__", None) or "")
        if text:
            yield Prose(" ".join(text.split("\n\n")[0].split()))


def _values(plan: Plan) -> Iterator[tuple[str, str, str]]:
    for name, space in plan.built.input_spaces[plan.name].items():
        yield name, "the caller", repr(space)
    for node in walk_nodes(plan.nodes):
        for output in outputs_of(node):
            if output in plan.built.values:
                yield leaf_name(Leaf(output)), label(node), describe(plan.built.values[output])


def _called(plan: Plan) -> Called:
    """The functions that the plan calls, in the order of their first calls; equal components appear once."""
    found: Called = {}
    for node in walk_nodes(plan.nodes):
        if isinstance(node, GraphFunctionCall):
            component = plan.built.graph.components[node.component]
            graph_function = component.graph_function(node.function)
            calls = found.setdefault(graph_function.function, [])
            if (component, graph_function) not in calls:
                calls.append((component, graph_function))
    return found


def _function(function: Callable[..., Any], calls: list[tuple[Any, Any]]) -> Iterator[Block]:
    component, graph_function = calls[0]
    yield Heading(f"{type(component).__name__}.{graph_function.name}", 3)
    places = ", ".join(f"`{component.scope_path}`" for component, _ in calls)
    kind = "A host function" if graph_function.host else "A graph function"
    yield Prose(f"{kind} of `{function.__module__}`, called for {places}.")
    text = inspect.cleandoc(type(component).__doc__ or "").split("\n\n")[0]
    if text:
        yield Prose(" ".join(text.split()))
    yield Code(_source(function))
    for backend, kernel in sorted(graph_function.kernels.items()):
        yield Prose(f"On {backend} it runs the kernel `{kernel.__module__}.{kernel.__qualname__}`.")


def _helpers(called: Called) -> list[FunctionType]:
    """The functions with an `ops` argument that graph functions call, directly or indirectly, each once."""
    found: dict[FunctionType, None] = {}
    waiting = [(function, type(component)) for function, calls in called.items() for component, _ in calls]
    while waiting:
        function, owner = waiting.pop(0)
        for helper in _uses(function, owner):
            if helper not in found and helper not in called:
                found[helper] = None
                waiting.append((helper, owner))
    return list(found)


def _uses(function: Any, owner: type) -> Iterator[FunctionType]:
    """The functions ``f(ops, ...)`` and methods ``owner.f(self, ops, ...)`` that `function` uses."""
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    for name in code.co_names if code else ():
        for used in (function.__globals__.get(name), getattr(owner, name, None)):
            if isinstance(used, FunctionType) and "ops" in used.__code__.co_varnames[:2]:
                yield used


def _docstrings(built: BuiltGraph, called: Called, helpers: list[FunctionType]) -> Iterator[str]:
    documented = [type(built.graph.components[built.graph.root])]
    documented += [type(component) for calls in called.values() for component, _ in calls]
    for thing in dict.fromkeys([*documented, *called, *helpers]):
        yield thing.__doc__ or ""


def _source(function: Any) -> str:
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return f"# {function.__qualname__}: its source is not available"
