"""Segments: host functions cut a plan into stretches that a backend lowers as one program each.

Before::

    %1 = memory.get_records(num_records)   # host
    %2 = policy.q_values(%1)
    %3 = loss.loss(%2)

After::

    host     %1 = memory.get_records(num_records)
    segment  (%1) -> %2, %3
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rlgraph.core.errors import BuildError
from rlgraph.core.graph.build import BuiltGraph
from rlgraph.core.graph.nodes import (
    Expression,
    GraphFunctionCall,
    Input,
    Node,
    Output,
    Ref,
    Source,
    arguments_of,
    label,
    references,
)
from rlgraph.core.graph.passes.dead_nodes import producers
from rlgraph.core.graph.passes.snapshots import viewed
from rlgraph.core.graph.plan import HostStep, Leaf, Segment
from rlgraph.core.graph.values import leaves
from rlgraph.core.ops.effects import Effects
from rlgraph.core.ops.tensor_spec import TensorSpec


def tensor_leaves(built: BuiltGraph, expressions: Iterable[Expression]) -> dict[Leaf, TensorSpec]:
    """All tensors the expressions refer to, in order."""
    found: dict[Leaf, TensorSpec] = {}
    for expression in expressions:
        for ref in references(expression):
            for path, spec in leaves(built.value_of(Ref(ref.source, ref.path))):
                if isinstance(spec, TensorSpec):
                    found[Leaf(ref.source, ref.path + path)] = spec
    return found


def split_into_segments(
    built: BuiltGraph, nodes: Sequence[Node], results: Expression
) -> tuple[HostStep | Segment, ...]:
    """The steps of a plan. A host call comes as early as its inputs allow, so that segments grow long."""
    groups = _group(nodes)
    steps: list[HostStep | Segment] = []
    for position, group in enumerate(groups):
        first = group[0]
        if isinstance(first, GraphFunctionCall) and first.host:
            later_nodes = [node for g in groups[position + 1 :] for node in g]
            steps.append(HostStep(first, _copied_outputs(first, later_nodes, results, built.effects)))
            continue
        later = [e for g in groups[position + 1 :] for n in g for _, e in arguments_of(n)]
        produced = {node.id for node in group}
        needed = tensor_leaves(built, (e for n in group for _, e in arguments_of(n)))
        wanted = tensor_leaves(built, [*later, results])
        inputs = {leaf: s for leaf, s in needed.items() if not _from(leaf, produced)}
        outputs = {leaf: s for leaf, s in wanted.items() if _from(leaf, produced)}
        number = sum(isinstance(step, Segment) for step in steps)
        steps.append(
            Segment(f"segment_{number}", tuple(group), tuple(inputs.items()), tuple(outputs.items()))
        )
    return tuple(steps)


def check_slices(steps: Sequence[HostStep | Segment], slices: Mapping[int, frozenset[int]]) -> None:
    """Check that no host call cuts a gradient slice: derivatives do not cross the border of a segment.

    Raises:
        BuildError: one does.
    """
    for step in steps:
        if isinstance(step, Segment):
            inside = {node.id for node in step.nodes}
            for node in step.nodes:
                if not slices.get(node.id, frozenset()) <= inside:
                    raise BuildError(
                        f"{label(node)}: a host function is called between a differentiated variable and the loss, "
                        "and needs a tensor from there or before: call it earlier or after gradients(...)"
                    )


def _group(nodes: Sequence[Node]) -> list[list[Node]]:
    """One host call or many other nodes each. Host calls keep their order, and so do all others."""
    groups: list[list[Node]] = []
    for node in nodes:
        open_segment = bool(groups) and not _is_host(groups[-1][0])
        if not _is_host(node):
            if open_segment:
                groups[-1].append(node)
            else:
                groups.append([node])
            continue
        needed = producers(*(expression for _, expression in arguments_of(node)))
        overtakes = open_segment and needed.isdisjoint(other.id for other in groups[-1])
        groups.insert(len(groups) - overtakes, [node])
    return groups


def _is_host(node: Node) -> bool:
    return isinstance(node, GraphFunctionCall) and node.host


def _from(leaf: Leaf, produced: set[int]) -> bool:
    return (
        not isinstance(leaf.source, Input)
        and isinstance(leaf.source, Output)
        and leaf.source.node in produced
    )


def _copied_outputs(
    node: GraphFunctionCall, later: Sequence[Node], results: Expression, effects: Mapping[int, Effects]
) -> frozenset[int]:
    """A host function may hand out its own buffers: copy what is returned or outlives its next call."""
    if any(_is_host(other) and other.component == node.component for other in later):
        return frozenset(range(node.returns))
    returned = {ref.source for ref in references(results)}
    copied = set()
    for index in range(node.returns):
        shared: set[Source] = {Output(node.id, index)}
        for other in later:
            outputs = range(other.returns) if isinstance(other, GraphFunctionCall) else ()
            shared.update(Output(other.id, i) for i in outputs if viewed(other, i, effects) & shared)
        if shared & returned:
            copied.add(index)
    return frozenset(copied)
