"""From a component graph to the scene that shows it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from rlgraph.core.draw.scene import COMPONENT, FUNCTION, GRADIENTS, INPUT, OUTPUT, Element, End, Scene, Wire
from rlgraph.core.graph.build import BuiltGraph
from rlgraph.core.graph.component_graph import ComponentGraph
from rlgraph.core.graph.nodes import (
    ApiCall,
    Branch,
    Carried,
    Expression,
    Gradients,
    GraphFunctionCall,
    Index,
    Input,
    Loop,
    Node,
    Output,
    Pack,
    Path,
    Ref,
    VariablesOf,
    arguments_of,
    descend,
    label,
    references,
    regions_of,
    walk_nodes,
)
from rlgraph.core.graph.values import leaves
from rlgraph.core.graph.variables import GradientList, VariableList

VARIABLES = "variables"
_LONGEST_LABEL = 30
_FRESH = re.compile(r"\bN\d+\b")
_Place = tuple[tuple[str, ...], tuple[ApiCall, ...]]


def extract(
    graph: ComponentGraph, built: BuiltGraph | None, methods: list[str], depth: int, union: bool
) -> Scene:
    """The scene of `methods` of a contracted `graph`.

    Args:
        graph: a contracted component graph.
        built: the build of it, if there is one: gives Spaces and parameter counts.
        methods: the root API methods to show.
        depth: components nested deeper are not shown; 1 shows the root's own sub-components closed.
        union: one element per API method for inputs and outputs, instead of one per argument and result.
    """
    return _Extractor(graph, built, methods, depth, union).run()


class _Extractor:
    def __init__(
        self, graph: ComponentGraph, built: BuiltGraph | None, methods: list[str], depth: int, union: bool
    ) -> None:
        self.graph, self.built, self.methods, self.depth, self.union = graph, built, methods, depth, union
        recorded = [graph.nodes[i] for m in methods for i in sorted(graph.methods[m].nodes)]
        # Of loops and branches what they hold is shown, and whatever goes into them and comes out of them.
        self.nodes = {node.id: node for node in walk_nodes(recorded) if not regions_of(node)}
        self.shown = self._shown_components()
        self.elements: dict[str, Element] = {}
        self.wires: dict[tuple[str, End, End], Wire] = {}
        self.carried: dict[End, dict[tuple[Any, Path], str]] = {}

    def run(self) -> Scene:
        for scope in self.shown:
            self._add_component(scope)
        root = self.elements[self.graph.root]
        inputs = [e for m in self.methods for e in self._inputs(m)]
        functions = [self._function(node) for node in self.nodes.values()]
        for element in [*inputs, *(e for e in functions if e is not None)]:
            self.elements.setdefault(element.key, element)
        for method in self.methods:
            for parameter, expression in self._flat(self.graph.results_of(method)):
                self._add_output(method, parameter, expression)
        for node in self.nodes.values():
            for _, expression in arguments_of(node):
                self._connect(expression, self._place(node))
        self._nest()
        root.children.sort(key=lambda e: (e.kind != INPUT, e.kind == OUTPUT))
        wires: dict[str, list[Wire]] = {}
        for wire in self.wires.values():
            wires.setdefault(wire.container, []).append(wire)
        labels = {end: text for end, carried in self.carried.items() if (text := _label(carried))}
        return Scene(root, wires, labels, self.methods, sorted(self.graph.methods))

    # Elements.

    def _shown_components(self) -> list[str]:
        reached = {scope for node in self.nodes.values() for scope in self._ancestors(node.component)}
        every = len(self.methods) == len(self.graph.methods)
        return [
            scope
            for scope in self.graph.components
            if len(self._ancestors(scope)) - 1 <= self.depth
            and (every or scope in reached or scope == self.graph.root)
        ]

    def _ancestors(self, scope: str) -> list[str]:
        """The scopes from the root down to `scope`."""
        if scope == self.graph.root:
            return [scope]
        parts = scope.split("/")
        return [self.graph.root, *("/".join(parts[: i + 1]) for i in range(len(parts)))]

    def _is_open(self, scope: str) -> bool:
        """Whether a shown component has shown components inside it."""
        return any(scope in self._ancestors(other)[:-1] for other in self.shown)

    def _add_component(self, scope: str) -> None:
        component = self.graph.components[scope]
        inside = [n for n in self.nodes.values() if self._location(n.component)[-1] == scope]
        own = [n for n in inside if n.component == scope and not isinstance(n, VariablesOf)]
        names = [n.function if isinstance(n, GraphFunctionCall) else "gradients" for n in own]
        below = self.graph.below(scope)
        every_call = [
            n for n in self.nodes.values() if isinstance(n, GraphFunctionCall) and n.component in below
        ]
        frozen = not component.trainable
        name = type(component).__name__
        hidden = len(below) - 1 if not self._is_open(scope) else 0
        lines = () if self._is_open(scope) else tuple(dict.fromkeys(names))
        if hidden:
            lines = (*lines, f"{hidden} component{'s' if hidden > 1 else ''} inside")
        self.elements[scope] = Element(
            scope,
            COMPONENT,
            scope.rsplit("/", 1)[-1],
            " · ".join([name, *self._parameters(below, frozen)]),
            lines,
            level=len(self._ancestors(scope)) - 1,
            host=bool(every_call) and all(n.host for n in every_call),
            frozen=frozen,
        )

    def _parameters(self, scopes: list[str], frozen: bool) -> list[str]:
        if self.built is None:
            return ["frozen"] if frozen else []
        variables = [v for s in scopes for v in self.graph.components[s].declared_variables.values()]
        count = sum(v.size for v in variables if (v.spec.is_float if frozen else v.trainable) and not v.host)
        if not count:
            return []
        return [f"{count:,} {'frozen' if frozen else 'parameters' if count > 1 else 'parameter'}"]

    def _inputs(self, method: str) -> Iterator[Element]:
        parameters = self.graph.methods[method].parameters
        if self.union:
            lines = tuple(" ".join([p, *self._input_space(method, p)]) for p in parameters)
            yield Element(f"in:{method}", INPUT, method, lines=lines, level=1, method=method)
            return
        for p in parameters:
            lines = tuple(self._input_space(method, p))
            yield Element(f"in:{method}.{p}", INPUT, p, lines=lines, level=1, method=method)

    def _input_space(self, method: str, parameter: str) -> list[str]:
        if self.built is None:
            return []
        found = dict.fromkeys(repr(leaf) for _, leaf in leaves(self.built.values[Input(method, parameter)]))
        text = ", ".join(found)
        return [text if len(text) <= _LONGEST_LABEL else f"{len(found)} tensors"]

    def _function(self, node: Node) -> Element | None:
        location = self._location(node.component)
        if (
            isinstance(node, VariablesOf)
            or location[-1] != node.component
            or not self._is_open(node.component)
        ):
            return None
        level = len(location)
        if isinstance(node, Gradients):
            return Element(f"{node.component}:gradients", GRADIENTS, "gradients", level=level)
        assert isinstance(node, GraphFunctionCall)
        key = f"{node.component}:{node.function}"
        return Element(key, FUNCTION, node.function, level=level, host=node.host)

    def _add_output(self, method: str, name: str, expression: Expression) -> None:
        key = f"out:{method}" if self.union or not name else f"out:{method}.{name}"
        element = self.elements.get(key)
        if element is None:
            title = method if self.union or not name else name
            element = self.elements[key] = Element(key, OUTPUT, title, level=1, method=method)
        space = [self._describe(ref) for ref in references(expression)] if self.built is not None else []
        shown = [name] if self.union and name else []
        if shown or space:
            element.lines = (*element.lines, " ".join([*shown, *space]))
        call = self.graph.calls[self.graph.methods[method].call]
        self._connect(expression, ((self.graph.root, key), (call,)))

    def _flat(self, expression: Expression, name: str = "") -> Iterator[tuple[str, Expression]]:
        if isinstance(expression, Pack):
            for key, item in expression.items:
                yield from self._flat(item, f"{name}.{key}" if name else str(key))
        elif isinstance(expression, Ref):
            yield name, expression

    def _nest(self) -> None:
        for element in self.elements.values():
            if element.kind in (INPUT, OUTPUT):
                self.elements[self.graph.root].children.append(element)
            elif element.key != self.graph.root:
                scope = element.key.partition(":")[0]
                parent = scope if ":" in element.key else self._ancestors(scope)[-2]
                self.elements[parent].children.append(element)

    # Wires.

    def _location(self, scope: str) -> tuple[str, ...]:
        return tuple(self._ancestors(scope)[: self.depth + 1])

    def _place(self, node: Node) -> _Place:
        """Where a node is drawn (keys from the root down), and the API calls around it."""
        element = self._function(node)
        location = self._location(node.component)
        return (location if element is None else (*location, element.key)), self._chain(node.caller)

    def _chain(self, caller: int | None) -> tuple[ApiCall, ...]:
        chain: list[ApiCall] = []
        while caller is not None:
            chain.append(self.graph.calls[caller])
            caller = chain[-1].caller
        return tuple(reversed(chain))

    def _origins(self, expression: Expression, seen: set[Ref]) -> Iterator[Ref]:
        """The outputs of calls, and the inputs, behind what goes round a loop or comes out of a loop or branch."""
        for ref in references(expression):
            if ref in seen:
                continue
            seen.add(ref)
            behind = self._behind(ref)
            if behind is None:
                yield ref
            else:
                for made in behind:
                    yield from self._origins(descend(made, ref.path), seen)

    def _behind(self, ref: Ref) -> tuple[Expression, ...] | None:
        source = ref.source
        if isinstance(source, Index):
            return ()
        id_ = (
            source.loop
            if isinstance(source, Carried)
            else source.node
            if isinstance(source, Output)
            else None
        )
        maker = None if id_ is None else self.graph.nodes[id_]
        if isinstance(maker, Branch):
            return (maker.then.results, maker.otherwise.results)
        if isinstance(maker, Loop):
            collected = maker.collected
            if collected is not None and isinstance(source, Output) and source.index == 1:
                return (collected,)
            return (maker.carried, maker.leaving)
        return None

    def _connect(self, expression: Expression, target: _Place) -> None:
        for ref in self._origins(expression, set()):
            if isinstance(ref.source, Output):
                self._flow(ref, self._place(self.graph.nodes[ref.source.node]), target)
            elif isinstance(ref.source, Input):
                method = self.graph.methods[ref.source.method]
                key = f"in:{method.name}" if self.union else f"in:{method.name}.{ref.source.name}"
                # An API method of the root that another one calls is reached from inside, not through its input.
                if key in self.elements:
                    self._flow(ref, ((self.graph.root, key), (self.graph.calls[method.call],)), target)

    def _flow(self, ref: Ref, source: _Place, target: _Place) -> None:
        """Add the chain of wires of one value."""
        (out, out_chain), (into, into_chain) = source, target
        shared = _common(out, into)
        if shared in (len(out), len(into)):
            return  # within one closed component, or its own variables handed to its own parts
        frames = _common(out_chain, into_chain)
        node = self.graph.nodes[ref.source.node] if isinstance(ref.source, Output) else None
        variables = isinstance(node, VariablesOf)
        # The innermost root API method that sees both ends: what `a` calls by calling `b` is shown as `b`'s.
        owner = [c.method for c in out_chain[:frames] if c.component == self.graph.root][
            -1 if self.union else 0
        ]
        leaving = self._ends(out[shared:], out_chain, frames)
        if variables:
            leaving = [End(end.key, VARIABLES) for end in leaving]
        entering = self._ends(into[shared:], into_chain, frames)
        steps = [
            *((out[shared + i - 1], leaving[i], leaving[i - 1]) for i in range(len(leaving) - 1, 0, -1)),
            (out[shared - 1], leaving[0], entering[0]),
            *((into[shared + i - 1], entering[i - 1], entering[i]) for i in range(1, len(entering))),
        ]
        for container, start, end in steps:
            wire = self.wires.setdefault((container, start, end), Wire(container, start, end))
            wire.methods.add(owner)
            wire.variables &= variables
        if not isinstance(ref.source, Input):
            text = self._describe(ref)
            for end in leaving:
                # Of two calls the one on the batch ``B`` is shown, not the one on a size without a name.
                carried = self.carried.setdefault(end, {})
                carried[self._what(ref)] = min(text, carried.get(self._what(ref), text))

    def _ends(self, keys: tuple[str, ...], chain: tuple[ApiCall, ...], frames: int) -> list[End]:
        """The ports through which a value passes on its way to the innermost of `keys`."""
        ends: list[End] = []
        for key in reversed(keys):
            port = _port(key, chain, frames)
            if not port and ends and key in self.graph.components:
                # A component inside it was called from elsewhere.
                port = f"{self.elements[ends[0].key].title}.{ends[0].port}"
            ends.insert(0, End(key, port))
        return ends

    def _what(self, ref: Ref) -> tuple[Any, Path]:
        """The same for all calls of one graph function."""
        source = ref.source
        key = (label(self.graph.nodes[source.node]), source.index) if isinstance(source, Output) else source
        return key, ref.path

    def _describe(self, ref: Ref) -> str:
        node = self.graph.nodes[ref.source.node] if isinstance(ref.source, Output) else None
        if self.built is None:
            return "variables" if isinstance(node, VariablesOf) else ""
        value = self.built.value_of(ref)
        if isinstance(value, VariableList | GradientList):
            return f"{len(value)} {'variables' if isinstance(value, VariableList) else 'gradients'}"
        found = [_name_sizes(repr(leaf)) for _, leaf in leaves(value)]
        return found[0] if len(found) == 1 else f"{len(found)} tensors"


def _common(first: tuple[Any, ...], second: tuple[Any, ...]) -> int:
    """The length of the common beginning of two sequences."""
    for i, (a, b) in enumerate(zip(first, second, strict=False)):
        if a != b:
            return i
    return min(len(first), len(second))


def _port(key: str, chain: Iterable[ApiCall], frames: int) -> str:
    """The API method through which a value passes the border of component `key`."""
    calls = list(chain)
    own = [c.method for c in calls[frames:] if c.component == key] or [
        c.method for c in calls if c.component == key
    ]
    return own[0] if own else ""


def _label(carried: dict[tuple[Any, Path], str]) -> str:
    """What leaves a port, in a few words."""
    text = ", ".join(dict.fromkeys(filter(None, carried.values())))
    return text if len(text) <= _LONGEST_LABEL else f"{len(carried)} tensors"


def _name_sizes(text: str) -> str:
    """Sizes that the build had to name itself are all ``N``."""
    return _FRESH.sub("N", text)
