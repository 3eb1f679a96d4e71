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

from collections.abc import Iterable, Sequence

from rlgraph.core.graph.build import BuiltGraph
from rlgraph.core.graph.nodes import (
    Expression,
    GraphFunctionCall,
    Input,
    Node,
    Output,
    Ref,
    arguments_of,
    references,
)
from rlgraph.core.graph.plan import HostStep, Leaf, Segment
from rlgraph.core.graph.values import leaves
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
    groups: list[list[Node]] = []
    for node in nodes:
        is_host = isinstance(node, GraphFunctionCall) and node.host
        if not is_host and groups and not _is_host(groups[-1][0]):
            groups[-1].append(node)
        else:
            groups.append([node])
    steps: list[HostStep | Segment] = []
    for position, group in enumerate(groups):
        first = group[0]
        if isinstance(first, GraphFunctionCall) and first.host:
            steps.append(HostStep(first, _copied_outputs(first, groups[position + 1 :], results)))
            continue
        later = [e for g in groups[position + 1 :] for n in g for _, e in arguments_of(n)]
        produced = {node.id for node in group}
        needed = tensor_leaves(built, (e for n in group for _, e in arguments_of(n)))
        wanted = tensor_leaves(built, [*later, results])
        inputs = {leaf: s for leaf, s in needed.items() if not _from(leaf, produced)}
        outputs = {leaf: s for leaf, s in wanted.items() if _from(leaf, produced)}
        number = sum(isinstance(step, Segment) for step in steps)
        steps.append(Segment(f"segment_{number}", tuple(group), tuple(inputs.items()), tuple(outputs.items())))
    return tuple(steps)


def _is_host(node: Node) -> bool:
    return isinstance(node, GraphFunctionCall) and node.host


def _from(leaf: Leaf, produced: set[int]) -> bool:
    return not isinstance(leaf.source, Input) and isinstance(leaf.source, Output) and leaf.source.node in produced


def _copied_outputs(
    node: GraphFunctionCall, later: Sequence[Sequence[Node]], results: Expression
) -> frozenset[int]:
    """A host function may hand out its own buffers: copy what is returned or outlives its next call."""
    if any(isinstance(n, GraphFunctionCall) and n.host and n.component == node.component for g in later for n in g):
        return frozenset(range(node.returns))
    returned = {ref.source for ref in references(results)}
    return frozenset(i for i in range(node.returns) if Output(node.id, i) in returned)
