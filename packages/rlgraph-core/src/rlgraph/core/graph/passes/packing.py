"""Packing: what a segment gives to the other learners leaves it as one flat tensor, made inside it.

Before::

    v1, v2, v3 = segment_0(...)
    s1, s2 = all_reduce(v1, v2, v3)    # three arrays, joined by the driver

After::

    flat = segment_0(...)
    s1, s2 = all_reduce(flat)

A program takes about a microsecond for each of its outputs, and an update has a dozen sums.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rlgraph.core.graph.built_graph import BuiltGraph
from rlgraph.core.graph.nodes import (
    Collective,
    Expression,
    GraphFunctionCall,
    Output,
    Packed,
    Ref,
    descend,
    walk_nodes,
)
from rlgraph.core.graph.plan import (
    BranchStep,
    CollectiveStep,
    Leaf,
    LoopStep,
    Segment,
    Step,
    tensor_leaves,
    used_between,
    walk_steps,
)
from rlgraph.core.ops.tensor_spec import TensorSpec

#: Flat tensors, such as derivatives, of more numbers have a call of their own: a copy costs more than a call.
SMALL = 2**17


@dataclass(frozen=True)
class Summand:
    """One tensor of a collective.

    Attributes:
        given: this learner's.
        made: the sum.
        shape: its sizes, which are fixed.
        number: by whose sum it is divided; None: it is not.
    """

    given: Leaf
    made: Leaf
    shape: tuple[int, ...]
    number: Leaf | None

    @property
    def is_large(self) -> bool:
        """Whether it has a call of its own."""
        return len(self.shape) == 1 and self.shape[0] > SMALL


def summands(built: BuiltGraph, nodes: Sequence[Collective]) -> tuple[list[Summand], list[Leaf]]:
    """The tensors of collectives, the largest first, and the numbers that divide them."""
    found, numbers = list[Summand](), dict[Leaf, None]()
    for node in nodes:
        number = next(iter(tensor_leaves(built, [node.number])), None)
        if number is not None:
            numbers[number] = None
        for made, spec in tensor_leaves(built, [Ref(Output(node.id))]).items():
            (given,) = tensor_leaves(built, [descend(node.value, made.path)])
            found.append(Summand(given, made, _sizes(spec), number))
    return sorted(found, key=lambda summand: -math.prod(summand.shape)), list(numbers)


def pack(built: BuiltGraph, steps: Sequence[Step], results: Expression) -> tuple[Step, ...]:
    """`steps` in which the small tensors of collectives leave a segment as one flat tensor."""
    packer = _Packer(built)
    steps = packer.with_flat_sums(steps)
    used = set(tensor_leaves(built, [*used_between(steps), results]))
    used.update(leaf for step in walk_steps(steps) if isinstance(step, Segment) for leaf, _ in step.inputs)
    return packer.with_flat_outputs(steps, used)


class _Packer:
    def __init__(self, built: BuiltGraph):
        self.built = built
        #: Name of a segment -> its flat tensors.
        self.packed: dict[str, list[Leaf]] = {}

    def with_flat_sums(self, steps: Sequence[Step]) -> tuple[Step, ...]:
        """`steps` with collectives that take flat tensors."""
        found: list[Step] = []
        for step in steps:
            if isinstance(step, LoopStep):
                step = replace(step, steps=self.with_flat_sums(step.steps))
            elif isinstance(step, BranchStep):
                sides = map(self.with_flat_sums, (step.then, step.otherwise))
                step = BranchStep(step.node, *sides)
            elif isinstance(step, CollectiveStep):
                segment = next((s for s in reversed(found) if isinstance(s, Segment)), None)
                step = step if segment is None else self._flat_sum(step, segment)
            found.append(step)
        return tuple(found)

    def _flat_sum(self, step: CollectiveStep, segment: Segment) -> CollectiveStep:
        given, numbers = summands(self.built, step.nodes)
        parts = [*(summand.given for summand in given if not summand.is_large), *numbers]
        large = [_ref(summand.given) for summand in given if summand.is_large]
        specs = dict(segment.outputs)
        if not (parts and specs.keys() >= set(parts)) or len(_devices(self.built, segment)) > 1:
            return step
        if len({specs[part].dtype for part in parts}) > 1:
            return step
        leaf = Leaf(Packed(tuple(map(_ref, parts))))
        self.packed.setdefault(segment.name, []).append(leaf)
        return replace(step, packed=leaf, beside=tuple(large))

    def with_flat_outputs(self, steps: Sequence[Step], used: set[Leaf]) -> tuple[Step, ...]:
        """`steps` with segments that make flat tensors, and of their parts only what is `used`."""
        found: list[Step] = []
        for step in steps:
            if isinstance(step, LoopStep):
                step = replace(step, steps=self.with_flat_outputs(step.steps, used))
            elif isinstance(step, BranchStep):
                sides = (self.with_flat_outputs(side, used) for side in (step.then, step.otherwise))
                step = BranchStep(step.node, *sides)
            elif isinstance(step, Segment) and step.name in self.packed:
                step = self._flat_output(step, used)
            found.append(step)
        return tuple(found)

    def _flat_output(self, segment: Segment, used: set[Leaf]) -> Segment:
        specs, outputs = dict(segment.outputs), dict[Leaf, TensorSpec]()
        parts = set[Leaf]()
        for leaf in self.packed[segment.name]:
            assert isinstance(leaf.source, Packed)
            those = [Leaf(part.source, part.path) for part in leaf.source.parts]
            parts.update(those)
            size = sum(math.prod(_sizes(specs[part])) for part in those)
            outputs[leaf] = TensorSpec((size,), specs[those[0]].dtype)
        left = {leaf: spec for leaf, spec in specs.items() if leaf in used or leaf not in parts}
        return replace(segment, outputs=tuple({**left, **outputs}.items()))


def _ref(leaf: Leaf) -> Ref:
    return Ref(leaf.source, leaf.path)


def _sizes(spec: TensorSpec) -> tuple[int, ...]:
    return tuple(size for size in spec.shape if isinstance(size, int))


def _devices(built: BuiltGraph, segment: Segment) -> set[str]:
    """The devices of what a segment computes, and of its variables."""
    calls = (node for node in walk_nodes(segment.nodes) if isinstance(node, GraphFunctionCall))
    groups = (built.layout.groups[name] for name in segment.reads | segment.writes)
    return {*(built.devices[node.component].ops for node in calls), *(group.device for group in groups)}
