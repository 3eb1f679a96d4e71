"""Fusing: several calls of API methods become one, so that they share inputs, intermediate values and one program.

Before::

    get_q_values(states) -> q
    get_loss(states, targets) -> loss

After::

    get_q_values__and__get_loss(states, targets) -> (q, loss)

Everything that was inferred stays as it is: nodes are renumbered, arguments that are the same object become one input.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any

from rlgraph.core.graph.built_graph import BuiltGraph
from rlgraph.core.graph.component_graph import RootMethod
from rlgraph.core.graph.nodes import (
    ApiCall,
    Carried,
    Expression,
    GraphFunctionCall,
    Index,
    Input,
    Node,
    Output,
    Pack,
    Ref,
    Region,
    Source,
    walk_nodes,
    with_expressions,
    with_regions,
)
from rlgraph.core.graph.values import Value


@dataclass(frozen=True)
class FusedCall:
    """One of the calls: a method, and for each of its parameters the position of the input that it is given."""

    method: str
    inputs: tuple[int, ...]


def fuse(built: BuiltGraph, calls: Sequence[FusedCall]) -> tuple[BuiltGraph, str]:
    """`built` with one more method, and its name: what all of `calls` do, in their order.

    Its results are the tuple of theirs. Inputs that are shared must have one Space in all calls.
    """
    name = _free_name("__and__".join(call.method for call in calls), built.graph.methods)
    parameters = _parameters(built, calls)
    fusion = _Fusion(built, name, parameters)
    for call in calls:
        fusion.add(call)
    graph = built.graph
    root_call = fusion.first_id - 1
    results = Pack(tuple, tuple(enumerate(fusion.results)))
    arguments = tuple((p, Ref(Input(name, p))) for p in parameters)
    nodes = tuple(node.id for node in fusion.nodes)
    groups = dict.fromkeys(tuple(parameters[position] for position in call.inputs) for call in calls)
    method = RootMethod(name, parameters, {}, root_call, nodes, tuple(groups))
    extended = replace(
        graph,
        methods={**graph.methods, name: method},
        nodes={**graph.nodes, **{node.id: node for node in walk_nodes(fusion.nodes)}},
        calls={**graph.calls, root_call: ApiCall(root_call, None, graph.root, name, arguments, results)},
    )
    spaces = {**built.input_spaces, name: fusion.spaces}
    return replace(
        built, graph=extended, input_spaces=spaces, values=fusion.values, effects=fusion.effects
    ), name


def _free_name(wanted: str, taken: Container[str]) -> str:
    """`wanted`, with a number if that is taken."""
    candidates = chain([wanted], (f"{wanted}_{number}" for number in count(2)))
    return next(name for name in candidates if name not in taken)


def _parameters(built: BuiltGraph, calls: Sequence[FusedCall]) -> tuple[str, ...]:
    """A name for every input: that of the first parameter it is given to, with a number if that is taken."""
    names: dict[int, str] = {}
    for call in calls:
        for parameter, position in zip(built.graph.methods[call.method].parameters, call.inputs, strict=True):
            if position not in names:
                names[position] = _free_name(parameter, names.values())
    return tuple(names[position] for position in sorted(names))


class _Fusion:
    def __init__(self, built: BuiltGraph, name: str, parameters: tuple[str, ...]):
        self.built, self.name, self.parameters = built, name, parameters
        self.values: dict[Source, Value] = dict(built.values)
        self.effects = dict(built.effects)
        self.spaces: dict[str, Any] = {}
        self.nodes: list[Node] = []
        self.results: list[Expression] = []
        self.first_id = 2 + max([*built.graph.nodes, *built.graph.calls], default=0)
        self._span = self.first_id

    def add(self, call: FusedCall) -> None:
        """Add the nodes of one call, renumbered."""
        method = self.built.graph.methods[call.method]
        inputs = {
            parameter: self.parameters[position]
            for parameter, position in zip(method.parameters, call.inputs, strict=True)
        }
        for parameter, name in inputs.items():
            self.spaces[name] = self.built.input_spaces[call.method][parameter]
            self.values[Input(self.name, name)] = self.built.values[Input(call.method, parameter)]
        shift = self._span
        self._span += self.first_id

        def source(old: Source) -> Source:
            if isinstance(old, Input):
                return Input(self.name, inputs[old.name])
            return _shifted(old, shift)

        def changed(expression: Expression) -> Expression:
            if isinstance(expression, Pack):
                return Pack(expression.kind, tuple((key, changed(item)) for key, item in expression.items))
            return (
                Ref(source(expression.source), expression.path) if isinstance(expression, Ref) else expression
            )

        old_nodes = [self.built.graph.nodes[id_] for id_ in method.nodes]
        for old in walk_nodes(old_nodes):
            self.effects[old.id + shift] = self.built.effects[old.id]
        for old_source, value in self.built.values.items():
            if not isinstance(old_source, Input):
                self.values[_shifted(old_source, shift)] = value
        self.nodes.extend(_renumbered(with_expressions(node, changed), shift) for node in old_nodes)
        self.results.append(changed(self.built.graph.results_of(call.method)))


def _shifted(source: Source, shift: int) -> Source:
    if isinstance(source, Output):
        return Output(source.node + shift, source.index)
    if isinstance(source, Carried | Index):
        return type(source)(source.loop + shift)
    return source


def _renumbered(node: Node, shift: int) -> Node:
    def region(old: Region) -> Region:
        return Region(tuple(_renumbered(inner, shift) for inner in old.nodes), old.results)

    if isinstance(node, GraphFunctionCall) and node.update:
        return replace(node, id=node.id + shift, update=node.update + shift)
    return with_regions(replace(node, id=node.id + shift), region)
