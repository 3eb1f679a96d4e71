"""The elements of a scene: components, graph functions, inputs and outputs, with their containers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from rlgraph.core.graph.nodes import (
    Branch,
    Expression,
    Gradients,
    GraphFunctionCall,
    Input,
    Loop,
    Node,
    Pack,
    Ref,
    VariablesOf,
    label,
    references,
)
from rlgraph.draw.graph_view import View
from rlgraph.draw.regions import Regions
from rlgraph.draw.scene import COMPONENT, ENTRY, EXIT, FUNCTION, GRADIENTS, INPUT, OUTPUT, REGION, Element

LONGEST_LABEL = 30


class Elements:
    """All elements of a view; `by_key` has them in drawing order."""

    def __init__(self, view: View) -> None:
        self.view, self.graph = view, view.graph
        self.regions = Regions(view)
        self.by_key: dict[str, Element] = {}
        self._parents: dict[str, str] = {}
        for scope in view.shown:
            self._add(self._component(scope), ("", *self._path(scope))[-2])
        for method in view.methods:
            for element in self._inputs(method):
                self._add(element, self.graph.root)
        for node in view.nodes.values():
            if isinstance(node, Loop | Branch):
                self._add_region(node)
            else:
                self._add_function(node)
        for method in view.methods:
            for name, expression in flat(self.graph.results_of(method)):
                self._add_output(method, name, expression)

    @property
    def root(self) -> Element:
        return self.by_key[self.graph.root]

    def nest(self) -> Element:
        """The root with all other elements inside their parents."""
        used = {*self._parents.values()}
        for key, parent in self._parents.items():
            element = self.by_key[key]
            # A side of a branch without calls is omitted.
            if parent and (element.kind != REGION or self.by_key[parent].kind != REGION or key in used):
                self.by_key[parent].children.append(element)
        for element in self.by_key.values():
            element.children.sort(key=lambda e: (e.kind not in (INPUT, ENTRY), e.kind in (OUTPUT, EXIT)))
        return self.root

    def place(self, node: Node) -> tuple[str, ...]:
        """The keys from the root down to the element that shows `node`."""
        path = self._path(self.view.location(node.component)[-1])
        if not self._has_element(node):
            return path
        return (*path, *self.regions.within(node, node.component), self._function_key(node))

    def border(self, node: Loop | Branch, name: str) -> tuple[str, ...]:
        """The keys from the root down to a node at the border of a loop or branch."""
        path = self.place(node)
        return (*path, f"{path[-1]}.{name}") if self._has_element(node) else path

    def _path(self, scope: str) -> tuple[str, ...]:
        """The keys from the root down to a shown component, with the regions between."""
        ancestors = self.view.ancestors(scope)
        path = [ancestors[0]]
        for parent, child in pairwise(ancestors):
            path += [*self.regions.home(child, parent), child]
        return tuple(path)

    def _add(self, element: Element, parent: str) -> None:
        if element.key not in self.by_key:
            self.by_key[element.key], self._parents[element.key] = element, parent

    # Components.

    def _component(self, scope: str) -> Element:
        component, opened = self.graph.components[scope], scope in self.view.opened
        below = self.graph.below(scope)
        inside = [n for n in self.view.nodes.values() if n.component in below]
        calls = [n for n in inside if isinstance(n, GraphFunctionCall)]
        device, storage = self.view.devices(scope)
        return Element(
            scope,
            COMPONENT,
            scope.rsplit("/", 1)[-1],
            " · ".join([type(component).__name__, *self._variables(scope, below)]),
            () if opened else tuple(self._contents(scope, inside, len(below) - 1)),
            level=len(self.view.ancestors(scope)) - 1,
            host=bool(calls) and all(n.host for n in calls),
            frozen=not component.trainable,
            stateful=bool(component.declared_variables),
            device=device,
            storage=storage,
            marked=self._is_marked(scope),
        )

    def _contents(self, scope: str, inside: list[Node], hidden: int) -> Iterator[str]:
        """The text in a closed component."""
        names = (_function_name(n) for n in inside if n.component == scope and not isinstance(n, VariablesOf))
        yield from dict.fromkeys(names)
        if hidden:
            yield f"{hidden} component{'s' if hidden > 1 else ''} inside"

    def _variables(self, scope: str, below: list[str]) -> list[str]:
        """The number of parameters (trainable or frozen) of a component, else its number of variables."""
        frozen = not self.graph.components[scope].trainable
        if self.view.values is None:
            return ["frozen"] if frozen else []
        variables = [v for s in below for v in self.graph.components[s].declared_variables.values()]
        count = sum(v.size for v in variables if (v.spec.is_float if frozen else v.trainable) and not v.host)
        if count:
            return [f"{count:,} {'frozen' if frozen else 'parameters' if count > 1 else 'parameter'}"]
        return [f"{len(variables)} variable{'s' if len(variables) > 1 else ''}"] if variables else []

    def _is_marked(self, scope: str) -> bool:
        """Whether the marked place is this component or hidden inside it."""
        hidden = [self.view.location(s)[-1] for s in self.view.marked_scopes]
        hidden += [self.place(self.graph.nodes[i])[-1] for i in self.view.marked_nodes]
        return scope in hidden

    # Graph functions.

    def _has_element(self, node: Node) -> bool:
        """Whether a node has its own element; nodes of closed components and lists of variables have none."""
        return (
            node.component in self.view.opened
            and node.component in self.view.shown
            and not isinstance(node, VariablesOf)
        )

    def _add_function(self, node: Node) -> None:
        if not self._has_element(node):
            return
        path = self.place(node)
        kind = GRADIENTS if isinstance(node, Gradients) else FUNCTION
        host = isinstance(node, GraphFunctionCall) and node.host
        level = len(self.view.location(node.component))
        self._add(Element(path[-1], kind, _function_name(node), level=level, host=host), path[-2])
        self.by_key[path[-1]].marked |= node.id in self.view.marked_nodes

    def _add_region(self, node: Loop | Branch) -> None:
        if self._has_element(node):
            key, outer = self.regions.keys[node.id], self.place(node)[-2]
            for element, parent in self.regions.elements(node, len(self.view.location(node.component))):
                self._add(element, parent or outer)
            self.by_key[key].marked |= node.id in self.view.marked_nodes

    def _function_key(self, node: Node) -> str:
        if node.id in self.regions.keys:
            return self.regions.keys[node.id]
        inside = self.regions.within(node, node.component)
        return f"{inside[-1] if inside else node.component}:{_function_name(node)}"

    # Inputs and outputs.

    def _inputs(self, method: str) -> Iterator[Element]:
        parameters = self.graph.methods[method].parameters
        if self.view.union:
            lines = tuple(" ".join([p, *self._input_space(method, p)]) for p in parameters)
            yield Element(input_key(method), INPUT, method, lines=lines, level=1, method=method)
            return
        for p in parameters:
            lines = tuple(self._input_space(method, p))
            yield Element(input_key(method, p), INPUT, p, lines=lines, level=1, method=method)

    def _input_space(self, method: str, parameter: str) -> list[str]:
        found = list(dict.fromkeys(self.view.tensors(Ref(Input(method, parameter)))))
        text = ", ".join(found)
        return [text if len(text) <= LONGEST_LABEL else f"{len(found)} tensors"] if found else []

    def _add_output(self, method: str, name: str, expression: Expression) -> None:
        key = self.output_key(method, name)
        self._add(
            Element(key, OUTPUT, method if self.view.union or not name else name, level=1, method=method),
            self.graph.root,
        )
        space = [text for ref in references(expression) if (text := self.view.describe(ref))]
        shown = [name] if self.view.union and name else []
        if shown or space:
            self.by_key[key].lines += (" ".join([*shown, *space]),)

    def output_key(self, method: str, name: str) -> str:
        """The key of the output that shows the result `name` of a root API method."""
        return f"out:{method}" if self.view.union or not name else f"out:{method}.{name}"


def input_key(method: str, parameter: str = "") -> str:
    """The key of the input that shows all arguments of a root API method, or one of them."""
    return f"in:{method}.{parameter}" if parameter else f"in:{method}"


def flat(expression: Expression, name: str = "") -> Iterator[tuple[str, Expression]]:
    """(name, value) of the parts of a result, e.g. ``loss`` or ``records.states``."""
    if isinstance(expression, Pack):
        for key, item in expression.items:
            yield from flat(item, f"{name}.{key}" if name else str(key))
    elif isinstance(expression, Ref):
        yield name, expression


def _function_name(node: Node) -> str:
    return node.function if isinstance(node, GraphFunctionCall) else label(node).rpartition(".")[2]
