"""Splits segments: a loop around an update runs in Python, and its body is one compiled program.

Unrolling sixteen minibatches would be sixteen times the code, half a minute of compiling, and only 2 % faster. So a
segment is split at the loops and branches that contain derivatives, and at those of a segment with derivatives through
which none of them goes: the steps of a rollout, a target that is due. The pieces exchange tensors. Some iterations
without derivatives are one program: those are short, and a call would take a good part of the time.

Before::

    for n5 in range(16):
        v6 = batch__take(order, i5)
        v7 = loss__loss(policy__values(v6))
        optimizer__apply(gradients_8(v7))

After::

    for n5 in range(16):
        c5, = update__segment_0_1(order, i5)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count

from rlgraph.core.graph.emission import Dialect, SourceFunction
from rlgraph.core.graph.emission.control_flow import Writer, emit_branch, emit_loop, uses_index
from rlgraph.core.graph.emission.source import from_leaves, literal
from rlgraph.core.graph.nodes import (
    Branch,
    Carried,
    Const,
    Expression,
    Gradients,
    Loop,
    Node,
    Output,
    Pack,
    Packed,
    Ref,
    Region,
    arguments_of,
    outputs_of,
    references,
    walk_nodes,
)
from rlgraph.core.graph.passes.segments import make_segment
from rlgraph.core.graph.plan import Leaf, Plan, Segment
from rlgraph.core.graph.variables import GradientList

#: Most iterations of a loop without derivatives in one program. (8 in place of 4 are 2 % faster with PPO, and take 9 s
#: more to compile. 5 are a whole rollout of A2C.)
MAX_CHUNK = 5

Pieces = tuple["Segment | Around", ...]


@dataclass(frozen=True)
class Around:
    """A loop or branch that runs in Python, with the pieces of its regions.

    Attributes:
        node, regions: the node and its regions.
        collects: how a loop joins what it collects, a function of `torch`.
    """

    node: Loop | Branch
    regions: tuple[Pieces, ...]
    collects: str = "stack"


def cut(plan: Plan, segment: Segment) -> Pieces:
    """The pieces of a segment; the segment itself if it needs no split or cannot be split."""
    results = Pack(tuple, tuple(enumerate(ref for leaf, _ in segment.outputs for ref in _parts(leaf))))
    names = (f"{segment.name}_{number}" for number in count())
    pieces = tuple(_cut(plan, segment.nodes, results, names))
    whole = len(pieces) == 1 and isinstance(pieces[0], Segment)
    return (segment,) if whole or not _may_be_cut(plan, pieces) else pieces


def _parts(leaf: Leaf) -> tuple[Ref, ...]:
    """What an output of a segment consists of."""
    return leaf.source.parts if isinstance(leaf.source, Packed) else (Ref(leaf.source, leaf.path),)


def is_differentiated(segment: Segment) -> bool:
    """Whether it takes derivatives."""
    return any(isinstance(node, Gradients) for node in walk_nodes(segment.nodes))


def compiled_pieces(pieces: Pieces) -> Iterator[Segment]:
    """The segments in `pieces` that are worth it: those that take derivatives, and bodies of loops without any."""
    for piece in pieces:
        if isinstance(piece, Segment):
            if is_differentiated(piece):
                yield piece
        elif _takes_derivatives(piece.node) or isinstance(piece.node, Branch):
            yield from (each for region in piece.regions for each in compiled_pieces(region))
        else:
            yield from (each for region in piece.regions for each in segments_of(region))


def _takes_derivatives(node: Node) -> bool:
    return any(isinstance(inside, Gradients) for inside in walk_nodes([node]))


def _is_cut(plan: Plan, node: Node) -> bool:
    """Whether a node runs in Python, with the pieces of its regions."""
    if not isinstance(node, Loop | Branch):
        return False
    return _takes_derivatives(node) or (plan.needs_gradients and node.id not in plan.sliced)


def _cut(
    plan: Plan, nodes: Sequence[Node], results: Expression, names: Iterator[str]
) -> Iterator[Segment | Around]:
    run: list[Node] = []
    for position, node in enumerate(nodes):
        if not isinstance(node, Loop | Branch) or not _is_cut(plan, node):
            run.append(node)
            continue
        if run:
            yield make_segment(plan.built, next(names), run, nodes[position:], results)
            run = []
        if isinstance(node, Loop) and (size := _chunk_size(plan, node)) > 1:
            yield _in_chunks(plan, node, size, next(names))
            continue
        regions = (node.region,) if isinstance(node, Loop) else (node.then, node.otherwise)
        yield Around(node, tuple(tuple(_cut(plan, r.nodes, r.results, names)) for r in regions))
    if run:
        yield make_segment(plan.built, next(names), run, (), results)


def _chunk_size(plan: Plan, node: Loop) -> int:
    """How many iterations of a loop one program can have: at most `MAX_CHUNK`, and a divisor of their number."""
    if not isinstance(node.count, Const) or node.stop is not None or uses_index(node):
        return 1
    if _takes_derivatives(node) or any(_is_cut(plan, inside) for inside in walk_nodes(node.region.nodes)):
        return 1
    return max(size for size in range(1, MAX_CHUNK + 1) if node.count.value % size == 0)


def _in_chunks(plan: Plan, node: Loop, size: int, name: str) -> Around:
    """A loop of programs with `size` iterations each."""
    assert isinstance(node.count, Const)
    chunk = replace(node, count=Const(size), carried=Ref(Carried(node.id)))
    collected = Const(None) if node.collected is None else Ref(Output(node.id, 1))
    results = Pack(tuple, tuple(enumerate((Ref(Output(node.id)), collected, Const(None)))))
    chunks = replace(node, count=Const(node.count.value // size), region=Region((chunk,), results))
    return Around(chunks, ((make_segment(plan.built, name, (chunk,), (), results),),), collects="cat")


def segments_of(pieces: Pieces) -> Iterator[Segment]:
    """All segments in `pieces`, including those inside loops and branches."""
    for piece in pieces:
        if isinstance(piece, Segment):
            yield piece
        else:
            for region in piece.regions:
                yield from segments_of(region)


def _may_be_cut(plan: Plan, pieces: Pieces) -> bool:
    """Whether no list of derivatives crosses a border, since only tensors can."""
    for piece in segments_of(pieces):
        inside = {node.id for node in walk_nodes(piece.nodes)}
        for ref in (ref for node in piece.nodes for _, e in arguments_of(node) for ref in references(e)):
            foreign = isinstance(ref.source, Output) and ref.source.node not in inside
            if foreign and isinstance(plan.built.value_of(ref), GradientList):
                return False
    return True


def emit_pieces(
    plan: Plan,
    segment: Segment,
    pieces: Pieces,
    lowered: Mapping[str, Callable[..., object]],
    dialect: Dialect,
) -> SourceFunction:
    """The function that runs the pieces of a segment: arrays in, arrays out, but for tensors that stay such.

    Args:
        plan, segment: the split segment.
        pieces: its pieces.
        lowered: name of a piece -> its program, tensors in and tensors out.
        dialect: how the backend emits segments.
    """
    return _Emitter(plan, segment, lowered, dialect).emit(pieces)


class _Emitter:
    def __init__(
        self, plan: Plan, segment: Segment, lowered: Mapping[str, Callable[..., object]], dialect: Dialect
    ):
        self.plan, self.segment, self.lowered, self.dialect = plan, segment, lowered, dialect
        self.function = SourceFunction(f"{plan.name}__{segment.name}", namespace=dialect.namespace)
        self.function.parameters = [self.function.local(leaf) for leaf, _ in segment.inputs]
        self.writer = Writer(
            self.function,
            plan.built,
            self._expression,
            lambda name: dialect.copy(dialect.receive(name)),
            dialect.index,
            partial(self._joined, "stack"),
        )

    def emit(self, pieces: Pieces) -> SourceFunction:
        function = self.function
        kept = self.plan.kept
        names = [function.local(leaf) for leaf, _ in self.segment.inputs if leaf not in kept]
        function.lines.extend(f"{name} = {self.dialect.receive(name)}" for name in names)
        self._emit(pieces)
        outputs = [
            function.local(leaf) if leaf in kept else self.dialect.give(self._flat(leaf))
            for leaf, _ in self.segment.outputs
        ]
        function.lines.append(f"return {literal(tuple, list(enumerate(outputs)))}")
        return function

    def _flat(self, leaf: Leaf) -> str:
        import torch

        parts = [self.function.local(Leaf(ref.source, ref.path)) for ref in _parts(leaf)]
        if not isinstance(leaf.source, Packed):
            return parts[0]
        flat = ", ".join(f"{part}.reshape(-1)" for part in parts)
        return f"{self.function.share('concat', torch.cat)}([{flat}])"

    def _emit(self, pieces: Pieces) -> None:
        for piece in pieces:
            if isinstance(piece, Segment):
                self._emit_call(piece)
                continue
            regions = iter(piece.regions)
            if isinstance(piece.node, Loop):
                writer = replace(self.writer, stack=partial(self._joined, piece.collects))
                emit_loop(writer, piece.node, lambda _: self._emit(next(regions)))  # noqa: B023
            else:
                emit_branch(self.writer, piece.node, lambda _: self._emit(next(regions)))  # noqa: B023
            self._emit_copies(piece.node)

    def _emit_call(self, piece: Segment) -> None:
        function = self.function
        name = function.bind(f"{self.plan.name}__{piece.name}", self.lowered[piece.name])
        call = f"{name}({', '.join(function.local(leaf) for leaf, _ in piece.inputs)})"
        outputs = "".join(f"{function.local(leaf)}, " for leaf, _ in piece.outputs)
        function.lines.append(f"{outputs.rstrip()} = {call}" if outputs else call)

    def _emit_copies(self, node: Loop | Branch) -> None:
        for output in outputs_of(node):
            if output in self.plan.copies:
                names = [self.function.local(leaf) for leaf, _ in self.writer.leaves(output)]
                self.function.lines.extend(f"{name} = {self.dialect.copy(name)}" for name in names)

    def _joined(self, how: str, name: str) -> str:
        import torch

        return f"{self.function.share(how, getattr(torch, how))}({name})"

    def _expression(self, expression: Expression) -> str:
        if isinstance(expression, Ref):
            return from_leaves(self.plan.built.value_of(expression), expression, self.function)
        if isinstance(expression, Pack):
            return literal(expression.kind, [(key, self._expression(e)) for key, e in expression.items])
        return repr(expression.value)
