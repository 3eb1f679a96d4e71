"""Towers: the nodes of an update, written once for each replica and joined afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from rlgraph.core.errors import BuildError
from rlgraph.core.graph.nodes import (
    Carried,
    Const,
    Expression,
    Gradients,
    Index,
    Input,
    Node,
    Output,
    Pack,
    Ref,
    Source,
    arguments_of,
    label,
    outputs_of,
    walk_nodes,
    with_expressions,
)
from rlgraph.core.graph.passes.dead_nodes import producers
from rlgraph.core.graph.passes.replica_copies import Copying, renamed, symbols_of
from rlgraph.core.graph.plan import Leaf
from rlgraph.core.graph.values import Value, is_leaf
from rlgraph.core.graph.variables import GradientList
from rlgraph.core.ops.dims import SymbolicDim
from rlgraph.core.ops.tensor_spec import TensorSpec


@dataclass(frozen=True)
class Members:
    """The nodes of a plan or region that every replica has: `ids`; their sizes named `symbol` are split."""

    symbol: str
    ids: frozenset[int]


class Towers:
    """The nodes of one plan or region, written once for each replica and joined afterwards."""

    def __init__(self, copying: Copying, members: Members, nodes: Sequence[Node], results: Expression):
        self.copying, self.symbol, self.nodes, self.results = copying, members.symbol, nodes, results
        self.members = members.ids
        self.replicas = range(len(copying.replicas))
        inner = [
            n for n in walk_nodes(n for n in nodes if n.id in members.ids) if not isinstance(n, Gradients)
        ]
        self.made = {source for n in inner for source in (*outputs_of(n), Carried(n.id), Index(n.id))}
        self.written: list[Node] = []
        self.like: tuple[Expression, int] | None = None
        self.shares: list[Expression] = []
        self.parts: dict[Leaf, list[Expression]] = {}
        self.weighed: dict[tuple[Leaf, int], Expression] = {}
        self.whole: dict[Leaf, Expression] = {}
        self.sums: dict[Source, Expression] = {}
        self.batched = self._batched()
        left = [e for node in nodes if node.id not in self.members for _, e in arguments_of(node)]
        wanted = copying.tensors([*left, results])
        self.leaving = {leaf: spec for leaf, spec in wanted if leaf.source in self.made}

    def write(self) -> tuple[list[Node], Expression]:
        """The nodes and results."""
        effects, waiting = self.copying.effects, list[Node]()
        for node in self.nodes:
            if node.id in self.members:
                waiting.append(node)
                continue
            needs = producers(*(e for _, e in arguments_of(node))) & self.members
            # Pure nodes that need none of it may come before it, so that the nodes of a replica are adjacent.
            if needs or not effects[node.id].pure:
                self._write_replicas(waiting)
                waiting = []
            self.written.append(with_expressions(node, self._outside))
        self._write_replicas(waiting)
        return self.written, self._outside(self.results)

    def _batched(self) -> frozenset[int]:
        """The members that depend on the batch.

        Raises:
            BuildError: one of them writes, or mixes the items of the batch.
        """
        batched: set[int] = set()
        for node in self.nodes:
            if node.id not in self.members or isinstance(node, Gradients):
                continue
            effects = self.copying.effects[node.id]
            if effects.writes - effects.draws:
                raise BuildError(
                    f"{label(node)} writes {min(effects.writes - effects.draws)} between the variables and the loss, "
                    "and every replica would: write it after the derivative, or use device_strategy='default'"
                )
            operands = [e for _, e in arguments_of(node)]
            if producers(*operands) & batched or any(
                self.symbol in symbols_of(spec) for _, spec in self.copying.tensors(operands)
            ):
                batched.add(node.id)
                self._check_items(node)
        return frozenset(batched)

    def _check_items(self, node: Node) -> None:
        for _, spec in self.copying.tensors(Ref(output) for output in outputs_of(node)):
            if spec.shape and self.symbol not in symbols_of(spec):
                raise BuildError(
                    f"{label(node)} makes {spec} of a batch {self.symbol} that replicas split: what they compute must "
                    "be one number, or have the batch as one of its sizes"
                )

    # One replica after the other.

    def _write_replicas(self, nodes: Sequence[Node]) -> None:
        if not nodes:
            return
        for leaf, spec in self.copying.tensors(e for node in nodes for _, e in arguments_of(node)):
            if leaf.source not in self.made and self.symbol in symbols_of(spec) and leaf not in self.parts:
                self._split(leaf, spec)
        derived: dict[int, list[Expression]] = {}
        for replica in self.replicas:
            for node in nodes:
                change = partial(self._inside, replica)
                if isinstance(node, Gradients):
                    copy = self.copying.gradients(node, self._weigh(self._loss(node), replica))
                    self.written.append(copy)
                    derived.setdefault(node.id, []).append(Ref(Output(copy.id)))
                else:
                    copied = self.copying.copy(node, replica, self.symbol)
                    self.written.append(with_expressions(copied, change))
            for leaf in self._leaving(nodes):
                if not self.leaving[leaf].shape and self._is_batched(leaf):
                    self._weigh(leaf, replica)
        for id_, parts in derived.items():
            self.sums[Output(id_)] = self._sum(parts, self.copying.values[Output(id_)])
        for leaf in self._leaving(nodes):
            self.whole[leaf] = self._put_together(leaf, self.leaving[leaf])

    def _leaving(self, nodes: Sequence[Node]) -> list[Leaf]:
        made = {output for node in nodes for output in outputs_of(node)}
        return [leaf for leaf in self.leaving if leaf.source in made]

    def _is_batched(self, leaf: Leaf) -> bool:
        return isinstance(leaf.source, Output) and leaf.source.node in self.batched

    def _loss(self, node: Gradients) -> Leaf:
        assert isinstance(node.loss, Ref)
        return Leaf(node.loss.source, node.loss.path)

    def _split(self, leaf: Leaf, spec: TensorSpec) -> None:
        axis = self._axis(leaf, spec)
        parts = len(self.replicas)
        x: Expression = Ref(leaf.source, leaf.path)
        arguments = {"x": x, "axis": Const(axis), "parts": Const(parts)}
        if not self.shares:
            self.like = (x, axis)
            share = TensorSpec((), self.copying.float_dtype, 0.0, 1.0)
            self.shares = self._call("_shares", arguments, [share] * parts)
        outputs = [renamed(self.symbol, replica, spec) for replica in self.replicas]
        views = (frozenset({"x"}),) * parts
        self.parts[leaf] = self._call("_split", arguments, outputs, views=views, carries=frozenset({"x"}))

    def _axis(self, leaf: Leaf, spec: TensorSpec) -> int:
        """Which of a tensor's axes is the batch.

        Raises:
            BuildError: none or several are.
        """
        axes = [axis for axis, size in enumerate(spec.shape) if size == SymbolicDim.symbol(self.symbol)]
        if len(axes) != 1 or sum(self.symbol in symbols_of(TensorSpec((s,), "bool")) for s in spec.shape) > 1:
            raise BuildError(
                f"{self._name(leaf)} is {spec}: replicas share a batch {self.symbol}, which must be one of its axes "
                "and in no other"
            )
        return axes[0]

    def _name(self, leaf: Leaf) -> str:
        source = leaf.source
        if isinstance(source, Output):
            return f"what {label(self.copying.graph.nodes[source.node])} gives"
        return f"argument {source.name!r}" if isinstance(source, Input) else "what a loop carries"

    def _weigh(self, leaf: Leaf, replica: int) -> Expression:
        """A number of one replica as its part of the whole."""
        if (leaf, replica) not in self.weighed:
            spec = self.copying.value_of(Ref(leaf.source, leaf.path))
            if not spec.is_float:
                raise BuildError(
                    f"{self._name(leaf)} is {spec}: of the numbers of replicas a mean is taken, so it must be a float"
                )
            arguments = {
                "x": Ref(self.copying.shifted(leaf.source, replica), leaf.path),
                "share": self.shares[replica],
            }
            scope = self.copying.scope_of("", replica)
            (weighed,) = self._call("_weigh", arguments, [spec.unbounded()], scope, carries=frozenset({"x"}))
            self.weighed[leaf, replica] = weighed
        return self.weighed[leaf, replica]

    def _put_together(self, leaf: Leaf, spec: TensorSpec) -> Expression:
        """The value of a replicated tensor outside of the replicas."""
        parts: list[Expression] = [
            Ref(self.copying.shifted(leaf.source, r), leaf.path) for r in self.replicas
        ]
        if not self._is_batched(leaf):
            return parts[0]
        if not spec.shape:
            return self._sum([self._weigh(leaf, replica) for replica in self.replicas], spec.unbounded())
        assert self.like is not None
        like, like_axis = self.like
        arguments = {"axis": Const(self._axis(leaf, spec)), "like": like, "like_axis": Const(like_axis)}
        arguments |= {f"part_{replica}": part for replica, part in enumerate(parts)}
        carried = frozenset(f"part_{replica}" for replica in self.replicas)
        return self._call("_join", arguments, [spec], carries=carried)[0]

    def _sum(self, parts: Sequence[Expression], value: TensorSpec | GradientList) -> Expression:
        arguments = {f"part_{replica}": part for replica, part in enumerate(parts)}
        return self._call("_sum", arguments, [value], carries=frozenset(arguments))[0]

    def _call(
        self,
        function: str,
        arguments: Mapping[str, Expression],
        outputs: Sequence[Value],
        scope: str = "",
        **shared: Any,
    ) -> list[Expression]:
        node = self.copying.call(scope or self.copying.whole, function, arguments, outputs, **shared)
        self.written.append(node)
        return [Ref(output) for output in outputs_of(node)]

    # Expressions.

    def _inside(self, replica: int, expression: Expression) -> Expression:
        """An expression of the whole batch, in terms of a replica."""
        if isinstance(expression, Pack):
            items = tuple((key, self._inside(replica, item)) for key, item in expression.items)
            return Pack(expression.kind, items)
        if not isinstance(expression, Ref):
            return expression
        if expression.source in self.made:
            return Ref(self.copying.shifted(expression.source, replica), expression.path)
        parts = {
            leaf: parts[replica] for leaf, parts in self.parts.items() if leaf.source == expression.source
        }
        return self._replaced(expression, parts)

    def _outside(self, expression: Expression) -> Expression:
        """An expression outside of the replicas."""
        if isinstance(expression, Pack):
            items = tuple((key, self._outside(item)) for key, item in expression.items)
            return Pack(expression.kind, items)
        if not isinstance(expression, Ref):
            return expression
        if expression.source in self.sums:
            return self.sums[expression.source]
        if expression.source not in self.made:
            return expression
        return self._replaced(expression, self.whole)

    def _replaced(self, ref: Ref, parts: Mapping[Leaf, Expression]) -> Expression:
        """A value in which some tensors are replaced by other expressions."""
        if not parts:
            return ref
        value = self.copying.value_of(ref)
        if isinstance(value, dict | tuple) and not is_leaf(value):
            kind = dict if isinstance(value, dict) else tuple
            keys: Iterable[Any] = value if isinstance(value, dict) else range(len(value))
            items = ((key, self._replaced(Ref(ref.source, (*ref.path, key)), parts)) for key in keys)
            return Pack(kind, tuple(items))
        return parts.get(Leaf(ref.source, ref.path), ref)
