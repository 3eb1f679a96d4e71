"""Loops and branches as Python statements, for everything that runs as Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from rlgraph.core.errors import InputError
from rlgraph.core.graph.built_graph import BuiltGraph
from rlgraph.core.graph.emission.source import SourceFunction
from rlgraph.core.graph.nodes import (
    Branch,
    Carried,
    Const,
    Expression,
    Index,
    Loop,
    Node,
    Output,
    Region,
    Source,
    arguments_of,
    descend,
    label,
    references,
)
from rlgraph.core.graph.plan import Leaf
from rlgraph.core.graph.values import leaves
from rlgraph.core.ops.tensor_spec import TensorSpec

#: What a collecting loop without iterations is refused with, on every backend.
EMPTY = "it collects, and its count is below 1: there must be at least one iteration"


@dataclass(frozen=True)
class Writer:
    """How a kind of emitted function writes values down.

    Attributes:
        function: where it writes.
        built: what is known of the values.
        text: source of the value of an expression.
        constant: source of a new tensor, from the name of a NumPy array.
        index: source of the tensor of an iteration's number, from a Python name.
        stack: source of the stacked tensors of a list, from its name.
    """

    function: SourceFunction
    built: BuiltGraph
    text: Callable[[Expression], str]
    constant: Callable[[str], str]
    index: Callable[[str], str]
    stack: Callable[[str], str]

    def scalar(self, expression: Expression) -> str:
        """Source of a number or bool for Python to decide with."""
        value = self.built.value_of(expression)
        if not isinstance(value, TensorSpec):
            return repr(value)
        kind = bool if value.dtype == "bool" else int
        return f"{self.function.share(kind.__name__, kind)}({self.text(expression)})"

    def tensor(self, expression: Expression, spec: TensorSpec) -> str:
        """Source of one tensor; numbers become tensors."""
        if isinstance(expression, Const):
            return self.constant(self.function.bind("constant", np.asarray(expression.value, spec.dtype)))
        return self.text(expression)

    def leaves(self, source: Source) -> list[tuple[Leaf, TensorSpec]]:
        """The tensors of a source."""
        return [
            (Leaf(source, path), spec) for path, spec in leaves(self.built.values[source]) if spec is not None
        ]

    def parts(self, expression: Expression, like: Sequence[tuple[Leaf, TensorSpec]]) -> list[str]:
        """The tensors of an expression, one for each of `like`."""
        return [self.tensor(descend(expression, leaf.path), spec) for leaf, spec in like]


def carried_names(writer: Writer, node: Loop) -> list[str]:
    """The local names of the carried tensors, which are those of the loop's output too."""
    names = []
    for leaf, _ in writer.leaves(Carried(node.id)):
        names.append(writer.function.local(leaf))
        writer.function.adopt(Leaf(Output(node.id, 0), leaf.path), names[-1])
    return names


def emit_loop(writer: Writer, node: Loop, body: Callable[[Region], None]) -> None:
    """Write `node` as a ``for`` loop around what `body` writes."""
    function, lines = writer.function, writer.function.lines
    carried = writer.leaves(Carried(node.id))
    names = carried_names(writer, node)
    _assign(lines, names, writer.parts(node.carried, carried))
    collected = writer.leaves(Output(node.id, 1)) if node.collected is not None else []
    lists = [function.fresh(f"all_{function.local(leaf)}") for leaf, _ in collected]
    lines.extend(f"{name} = []" for name in lists)
    number = function.fresh(f"n{node.id}")
    count = writer.scalar(node.count)
    with function.block(f"for {number} in {function.share('range', range)}({count}):"):
        if uses_index(node):
            function.lines.append(f"{function.local(Leaf(Index(node.id)))} = {writer.index(number)}")
        body(node.region)
        if node.collected is not None:
            items = writer.parts(node.collected, collected)
            function.lines.extend(f"{name}.append({item})" for name, item in zip(lists, items, strict=True))
        # Everything that is said of the carried values is said of the old ones until here.
        stop = function.fresh(f"stop{node.id}")
        if node.stop is not None:
            function.lines.append(f"{stop} = {writer.scalar(node.stop)}")
        _assign(function.lines, names, writer.parts(node.leaving, carried))
        if node.stop is not None:
            function.lines.extend([f"if {stop}:", "    break"])
    if lists and not isinstance(node.count, Const):
        refuse = function.share("refuse_empty", refuse_empty)
        lines.extend([f"if not {lists[0]}:", f"    {refuse}({label(node)!r})"])
    for (leaf, _), name in zip(collected, lists, strict=True):
        function.lines.append(f"{function.local(leaf)} = {writer.stack(name)}")


def refuse_empty(where: str) -> NoReturn:
    """Raise the error of a collecting loop that does not run."""
    raise InputError(f"{where}: {EMPTY}")


def emit_branch(writer: Writer, node: Branch, body: Callable[[Region], None]) -> None:
    """Write `node` as an ``if`` and ``else`` around what `body` writes."""
    function = writer.function
    outputs = writer.leaves(Output(node.id))
    names = [function.local(leaf) for leaf, _ in outputs]
    for head, region in ((f"if {writer.scalar(node.predicate)}:", node.then), ("else:", node.otherwise)):
        with function.block(head):
            body(region)
            _assign(function.lines, names, writer.parts(region.results, outputs))


def uses_index(node: Loop) -> bool:
    """Whether anything inside asks for the number of the iteration."""

    def mentioned(nodes: Sequence[Node]) -> bool:
        return any(
            ref.source == Index(node.id)
            for inner in nodes
            for _, expression in arguments_of(inner)
            for ref in references(expression)
        )

    results = references(node.region.results)
    return mentioned(node.region.nodes) or any(ref.source == Index(node.id) for ref in results)


def _assign(lines: list[str], names: Sequence[str], values: Sequence[str]) -> None:
    pairs = [(name, value) for name, value in zip(names, values, strict=True) if name != value]
    if pairs:
        left, right = zip(*pairs, strict=True)
        lines.append(f"{', '.join(left)} = {', '.join(right)}")
