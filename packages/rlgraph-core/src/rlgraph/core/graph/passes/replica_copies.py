"""Copies of nodes for replicas: their names, values, effects and places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count
from typing import Any

from rlgraph.core.graph.built_graph import BuiltGraph
from rlgraph.core.graph.devices import Devices
from rlgraph.core.graph.known_values import value_of
from rlgraph.core.graph.nodes import (
    ApiCall,
    Carried,
    Expression,
    Gradients,
    GraphFunctionCall,
    Index,
    Node,
    Output,
    Region,
    Source,
    outputs_of,
    references,
    walk_nodes,
    with_regions,
)
from rlgraph.core.graph.plan import Leaf
from rlgraph.core.graph.values import Value, leaves, map_leaves
from rlgraph.core.ops.dims import SymbolicDim
from rlgraph.core.ops.effects import Effects
from rlgraph.core.ops.tensor_spec import TensorSpec

#: How the symbols of time ranks are called.
_TIME = re.compile(r"T\d*")


@dataclass(frozen=True)
class Replication:
    """How updates are shared.

    Attributes:
        devices: one for each replica.
        component: offers what ties replicas together: ``_split``, ``_shares``, ``_weigh``, ``_sum``, ``_join``.
    """

    devices: tuple[str, ...]
    component: Any


def symbols_of(spec: TensorSpec) -> frozenset[str]:
    """The symbols of open sizes, without those of time ranks."""
    found = (size.symbols for size in spec.shape if isinstance(size, SymbolicDim))
    return frozenset(symbol for symbols in found for symbol in symbols if not _TIME.fullmatch(symbol))


class Copying:
    """Names, values, effects and places of the new nodes and components of an API method."""

    def __init__(self, built: BuiltGraph, method: str, replication: Replication):
        self.graph, self.float_dtype = built.graph, built.float_dtype
        self._caller = built.graph.methods[method].call
        self.calls: dict[int, ApiCall] = dict(built.graph.calls)
        self.values: dict[Source, Value] = dict(built.values)
        self.effects: dict[int, Effects] = dict(built.effects)
        self.components: dict[str, Any] = dict(built.graph.components)
        self.devices: dict[str, Devices] = dict(built.devices)
        self.replicas = replication.devices
        self._component = replication.component
        # The copy of node 3 in replica 1 is 3 + 2 * span.
        self._span = 1 + max([*built.graph.nodes, *built.graph.calls])
        self._ids = count(self._span * (len(self.replicas) + 1))
        taken = {scope.partition("/")[0] for scope in self.components}
        names = chain(["replica"], (f"replica{number}" for number in count(2)))
        self.prefix = next(name for name in names if not any(scope.startswith(name) for scope in taken))
        self.whole = f"{self.prefix}s"
        self._add_component(self.whole, self._component, self.devices[self.graph.root])

    def _add_component(self, scope: str, component: Any, devices: Devices) -> Any:
        """A component of another scope, whose variables are those of `component`."""
        twin = object.__new__(type(component))
        twin.__dict__.update(
            vars(component), scope=scope.rpartition("/")[2], scope_path=scope, sub_components={}
        )
        self.components[scope], self.devices[scope] = twin, devices
        return twin

    def scope_of(self, scope: str, replica: int) -> str:
        """The scope of a component in a replica, which it joins with all around it."""
        path = f"{self.prefix}_{replica}" + (f"/{scope}" if scope else "")
        if path not in self.components:
            outer, _, name = scope.rpartition("/")
            component = self.graph.components[scope] if scope else self._component
            variables = self.devices[scope].variables if scope else ""
            parent = self.components[self.scope_of(outer, replica)] if scope else None
            twin = self._add_component(path, component, Devices(variables, self.replicas[replica]))
            if parent is not None:
                parent.sub_components[name] = twin
        return path

    def value_of(self, expression: Expression) -> Value:
        return value_of(expression, self.values)

    def tensors(self, expressions: Iterable[Expression]) -> Iterator[tuple[Leaf, TensorSpec]]:
        """All tensors the expressions refer to."""
        for expression in expressions:
            for ref in references(expression):
                for path, spec in leaves(self.value_of(ref), ref.path):
                    if isinstance(spec, TensorSpec):
                        yield Leaf(ref.source, path), spec

    def call(
        self,
        scope: str,
        function: str,
        arguments: Mapping[str, Expression],
        outputs: Sequence[Value],
        **shared: Any,
    ) -> GraphFunctionCall:
        """A new call of a function that ties replicas together."""
        node = GraphFunctionCall(
            next(self._ids), self._caller, scope, function, tuple(arguments.items()), len(outputs)
        )
        nothing = (frozenset[str](),) * len(outputs)
        self.effects[node.id] = Effects(aliases=nothing, **{"views": nothing, **shared})
        self.values.update(zip(outputs_of(node), outputs, strict=True))
        return node

    def gradients(self, node: Gradients, loss: Expression) -> Gradients:
        """The same derivative of another loss."""
        copy = replace(node, id=next(self._ids), loss=loss)
        self.effects[copy.id] = self.effects[node.id]
        self.values[Output(copy.id)] = self.values[Output(node.id)]
        return copy

    def copy(self, node: Node, replica: int, symbol: str) -> Node:
        """A node in a replica; its expressions are still those of the original."""
        shift = self._span * (replica + 1)
        for inner in walk_nodes([node]):
            self.effects[inner.id + shift] = self.effects[inner.id]
            for source in (*outputs_of(inner), Carried(inner.id), Index(inner.id)):
                if source in self.values:
                    value = map_leaves(partial(renamed, symbol, replica), self.values[source])
                    self.values[self.shifted(source, replica)] = value

        def moved(old: Node) -> Node:
            inside = with_regions(old, lambda r: Region(tuple(moved(n) for n in r.nodes), r.results))
            return replace(
                inside,
                id=old.id + shift,
                caller=self._caller_of(old.caller, replica),
                component=self.scope_of(old.component, replica),
            )

        return moved(node)

    def _caller_of(self, caller: int | None, replica: int) -> int | None:
        """The API call of a replica in whose body a node stands; that of the root is one for all."""
        if caller is None or caller == self._caller:
            return caller
        id_ = caller + self._span * (replica + 1)
        if id_ not in self.calls:
            call = self.calls[caller]
            around, scope = self._caller_of(call.caller, replica), self.scope_of(call.component, replica)
            self.calls[id_] = replace(call, id=id_, caller=around, component=scope)
        return id_

    def shifted(self, source: Source, replica: int) -> Source:
        """The copy in a replica of a source that is made in it."""
        shift = self._span * (replica + 1)
        if isinstance(source, Output):
            return Output(source.node + shift, source.index)
        if isinstance(source, Carried | Index):
            return type(source)(source.loop + shift)
        return source


def renamed(symbol: str, replica: int, leaf: Any) -> Any:
    """A leaf in which the size of the batch is that of a part."""
    if not isinstance(leaf, TensorSpec):
        return leaf
    return leaf.with_shape(
        tuple(
            size.renamed(symbol, f"{symbol}_{replica}") if isinstance(size, SymbolicDim) else size
            for size in leaf.shape
        )
    )
