"""The elements of a scene: components, graph functions, inputs and outputs, and where each of them stands."""

from __future__ import annotations

from collections.abc import Iterator

from rlgraph.core.draw.scene import COMPONENT, FUNCTION, GRADIENTS, INPUT, OUTPUT, Element
from rlgraph.core.draw.view import View
from rlgraph.core.graph.nodes import (
    Expression,
    Gradients,
    GraphFunctionCall,
    Input,
    Node,
    Pack,
    Ref,
    VariablesOf,
    references,
)

LONGEST_LABEL = 30


class Elements:
    """All elements of a view. `by_key` has them in the order in which they are drawn."""

    def __init__(self, view: View) -> None:
        self.view, self.graph = view, view.graph
        self.by_key: dict[str, Element] = {}
        self._parents: dict[str, str] = {}
        for scope in view.shown:
            around = view.ancestors(scope)
            self._add(self._component(scope), around[-2] if len(around) > 1 else "")
        for method in view.methods:
            for element in self._inputs(method):
                self._add(element, self.graph.root)
        for node in view.nodes.values():
            self._add_function(node)
        for method in view.methods:
            for name, expression in flat(self.graph.results_of(method)):
                self._add_output(method, name, expression)

    @property
    def root(self) -> Element:
        return self.by_key[self.graph.root]

    def nest(self) -> Element:
        """The root with all other elements inside their parents."""
        for key, parent in self._parents.items():
            if parent:
                self.by_key[parent].children.append(self.by_key[key])
        self.root.children.sort(key=lambda e: (e.kind != INPUT, e.kind == OUTPUT))
        return self.root

    def place(self, node: Node) -> tuple[str, ...]:
        """The keys from the root down to the element that shows `node`."""
        location = tuple(self.view.location(node.component))
        return (*location, _function_key(node)) if self._has_element(node) else location

    def _add(self, element: Element, parent: str) -> None:
        if element.key not in self.by_key:
            self.by_key[element.key], self._parents[element.key] = element, parent

    # Components.

    def _component(self, scope: str) -> Element:
        component, opened = self.graph.components[scope], scope in self.view.opened
        below = self.graph.below(scope)
        inside = [n for n in self.view.nodes.values() if n.component in below]
        calls = [n for n in inside if isinstance(n, GraphFunctionCall)]
        device, storage = self._devices(scope)
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
        """What is written into a closed component."""
        names = (_function_name(n) for n in inside if n.component == scope and not isinstance(n, VariablesOf))
        yield from dict.fromkeys(names)
        if hidden:
            yield f"{hidden} component{'s' if hidden > 1 else ''} inside"

    def _variables(self, scope: str, below: list[str]) -> list[str]:
        """How many numbers a component learns or keeps from learning, else how many variables it has."""
        frozen = not self.graph.components[scope].trainable
        if self.view.values is None:
            return ["frozen"] if frozen else []
        variables = [v for s in below for v in self.graph.components[s].declared_variables.values()]
        count = sum(v.size for v in variables if (v.spec.is_float if frozen else v.trainable) and not v.host)
        if count:
            return [f"{count:,} {'frozen' if frozen else 'parameters' if count > 1 else 'parameter'}"]
        return [f"{len(variables)} variable{'s' if len(variables) > 1 else ''}"] if variables else []

    def _devices(self, scope: str) -> tuple[str, str]:
        """Where graph functions and variables of a component are placed: as it says, else as its parent says."""
        ops = storage = ""
        for around in self.view.ancestors(scope):
            device = getattr(self.graph.components[around], "device", None)
            if isinstance(device, str):
                ops = storage = device
            elif device:
                ops, storage = device.get("ops") or ops, device.get("variables") or storage
        return ops, storage

    def _is_marked(self, scope: str) -> bool:
        """Whether the marked place is a component or hidden inside it."""
        hidden = [self.view.location(s)[-1] for s in self.view.marked_scopes]
        hidden += [self.place(self.graph.nodes[i])[-1] for i in self.view.marked_nodes]
        return scope in hidden

    # Graph functions.

    def _has_element(self, node: Node) -> bool:
        """Whether a node has an element of its own; those of closed components have none, nor lists of variables."""
        return (
            node.component in self.view.opened
            and node.component in self.view.shown
            and not isinstance(node, VariablesOf)
        )

    def _add_function(self, node: Node) -> None:
        if not self._has_element(node):
            return
        location = self.view.location(node.component)
        kind = GRADIENTS if isinstance(node, Gradients) else FUNCTION
        host = isinstance(node, GraphFunctionCall) and node.host
        element = Element(_function_key(node), kind, _function_name(node), level=len(location), host=host)
        self._add(element, location[-1])
        self.by_key[element.key].marked |= node.id in self.view.marked_nodes

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
    return node.function if isinstance(node, GraphFunctionCall) else "gradients"


def _function_key(node: Node) -> str:
    return f"{node.component}:{_function_name(node)}"
