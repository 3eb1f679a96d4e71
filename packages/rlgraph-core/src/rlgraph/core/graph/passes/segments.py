"""Segments: host functions and collectives cut a plan into stretches that a backend lowers as one program each.

Before::

    %1 = memory.get_records(num_records)   # host
    %2 = policy.q_values(%1)
    %3 = loss.loss(%2)

After::

    host     %1 = memory.get_records(num_records)
    segment  (%1) -> %2, %3
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count

from rlgraph.core.errors import BuildError
from rlgraph.core.graph.built_graph import BuiltGraph
from rlgraph.core.graph.nodes import (
    Branch,
    Collective,
    Expression,
    GraphFunctionCall,
    Input,
    Loop,
    Node,
    Output,
    Ref,
    Source,
    arguments_of,
    label,
    outputs_of,
    references,
    walk_nodes,
)
from rlgraph.core.graph.passes.dead_nodes import producers
from rlgraph.core.graph.passes.snapshots import viewed
from rlgraph.core.graph.plan import (
    BranchStep,
    CollectiveStep,
    HostStep,
    Leaf,
    LoopStep,
    Segment,
    Step,
    tensor_leaves,
    walk_steps,
)
from rlgraph.core.graph.variables import GradientList
from rlgraph.core.ops.effects import Effects


def split_into_segments(
    built: BuiltGraph, nodes: Sequence[Node], results: Expression, sliced: Collection[int]
) -> tuple[Step, ...]:
    """The steps of a plan. A host call comes as early as its inputs allow, so that segments grow long.

    A collective comes as late as what needs it allows; those that follow each other are one step. A loop or branch with
    a host call or collective inside has steps of its own.

    Args:
        built, nodes, results: the plan.
        sliced: the nodes of gradient slices, which stay together.
    """
    return _Splitter(built, sliced).split(nodes, results, repeated=False)


class _Splitter:
    def __init__(self, built: BuiltGraph, sliced: Collection[int]):
        self.built, self.sliced = built, sliced
        self.number = count()

    def split(self, nodes: Sequence[Node], results: Expression, *, repeated: bool) -> tuple[Step, ...]:
        """The steps of a plan or region; those of a `repeated` region run again and again."""
        groups = _group(nodes, self.built.effects, self.sliced)
        steps: list[Step] = []
        for position, group in enumerate(groups):
            later = [node for g in groups[position + 1 :] for node in g]
            first = group[0]
            if isinstance(first, Loop) and self._is_border(first):
                region = self.split(first.region.nodes, first.region.results, repeated=True)
                steps.append(LoopStep(first, region))
            elif isinstance(first, Branch) and self._is_border(first):
                sides = (first.then, first.otherwise)
                steps.append(
                    BranchStep(first, *(self.split(r.nodes, r.results, repeated=repeated) for r in sides))
                )
            elif isinstance(first, Collective):
                steps.append(CollectiveStep((first,)))
            elif isinstance(first, GraphFunctionCall) and first.host:
                steps.append(HostStep(first, self._copies(first, later, results, repeated)))
            else:
                steps.append(self._segment(group, later, results))
        return tuple(self._together(steps))

    def _together(self, steps: Sequence[Step]) -> Iterator[Step]:
        """`steps` in which collectives that follow each other are one step: a call costs much."""
        pending: list[Collective] = []
        for step in steps:
            together = isinstance(step, CollectiveStep) and not _needs(step.nodes[0], pending)
            if pending and not together:
                yield CollectiveStep(tuple(pending))
                pending = []
            if isinstance(step, CollectiveStep):
                pending.extend(step.nodes)
            else:
                yield step
        if pending:
            yield CollectiveStep(tuple(pending))

    def _copies(
        self, node: GraphFunctionCall, later: Sequence[Node], results: Expression, repeated: bool
    ) -> frozenset[int]:
        function = self.built.graph.components[node.component].graph_function(node.function)
        if function.shares == ():
            return frozenset()
        if repeated:
            return frozenset(range(node.returns))
        return _copied_outputs(node, later, results, self.built.effects)

    def _is_border(self, node: Node) -> bool:
        return self.built.effects[node.id].is_border

    def _segment(self, group: Sequence[Node], later: Sequence[Node], results: Expression) -> Segment:
        return make_segment(self.built, f"segment_{next(self.number)}", group, later, results)


def make_segment(
    built: BuiltGraph, name: str, group: Sequence[Node], later: Sequence[Node], results: Expression
) -> Segment:
    """The nodes `group` as a segment: what enters it, and what of it the `later` nodes or the `results` need."""
    produced = {node.id for node in group}
    needed = tensor_leaves(built, (e for n in group for _, e in arguments_of(n)))
    wanted = tensor_leaves(built, [*(e for n in later for _, e in arguments_of(n)), results])
    inputs = {leaf: s for leaf, s in needed.items() if not _from(leaf, produced)}
    outputs = {leaf: s for leaf, s in wanted.items() if _from(leaf, produced)}
    effects, groups_of = [built.effects[node.id] for node in group], built.layout.groups_of
    return Segment(
        name,
        tuple(group),
        tuple(inputs.items()),
        tuple(outputs.items()),
        reads=groups_of(name for e in effects for name in e.reads),
        writes=groups_of(name for e in effects for name in e.writes),
        streams=frozenset(name for e in effects for name in e.draws),
    )


def check_slices(steps: Iterable[Step], slices: Mapping[int, frozenset[int]]) -> None:
    """Check that no host call cuts a gradient slice: derivatives do not cross the border of a segment.

    Raises:
        BuildError: one does.
    """
    for segment in (step for step in walk_steps(steps) if isinstance(step, Segment)):
        inside = {node.id for node in walk_nodes(segment.nodes)}
        for node in walk_nodes(segment.nodes):
            if not slices.get(node.id, frozenset()) <= inside:
                raise BuildError(
                    f"{label(node)}: a host function is called between a differentiated variable and the loss, "
                    "and needs a tensor from there or before: call it earlier or after gradients(...)"
                )


def check_derivatives(built: BuiltGraph, steps: Iterable[Step]) -> None:
    """Check that every list of derivatives that leaves a segment fits into one flat tensor.

    Raises:
        BuildError: the variables are on several devices.
    """
    for leaf, _ in (
        output for step in walk_steps(steps) if isinstance(step, Segment) for output in step.outputs
    ):
        derivatives = built.value_of(Ref(leaf.source, leaf.path))
        if isinstance(derivatives, GradientList):
            devices = sorted({variable.device for variable in derivatives})
            if len(devices) > 1:
                assert isinstance(leaf.source, Output)
                raise BuildError(
                    f"{label(built.graph.nodes[leaf.source.node])}: a host function or all_reduce(...) is called "
                    "between gradients(...) and the use of its result, and the variables are on "
                    f"{', '.join(map(repr, devices))}: derivatives leave a segment as one flat tensor. Call "
                    "gradients(...) for each device on its own"
                )


def _ahead(
    group: Sequence[Node], needed: Collection[int], effects: Mapping[int, Effects], sliced: Collection[int]
) -> list[Node]:
    """The nodes of a group with a gradient slice that a host call needs, if all can be ahead of the slice."""
    if not any(node.id in sliced for node in group):
        return []
    wanted, found = set(needed), list[Node]()
    for node in reversed(group):
        if node.id in wanted:
            found.insert(0, node)
            wanted |= producers(*(expression for _, expression in arguments_of(node)))
    return (
        found
        if all(
            node.id not in sliced and not effects[node.id].reads | effects[node.id].writes for node in found
        )
        else []
    )


def _group(
    nodes: Sequence[Node], effects: Mapping[int, Effects], sliced: Collection[int]
) -> list[list[Node]]:
    """One host call or collective or many other nodes each. The former keep their order, and so do all others."""
    groups: list[list[Node]] = []
    for node in nodes:
        open_segment = bool(groups) and not effects[groups[-1][0].id].is_border
        needed = producers(*(expression for _, expression in arguments_of(node)))
        if not effects[node.id].is_border:
            segment = groups[-1] if open_segment else None
            if segment is None and node.id not in sliced:
                segment = _segment_before(groups, needed, effects)
            if segment is None:
                groups.append([node])
            else:
                segment.append(node)
            continue
        # What holds a host call among others cannot be called before the tensors' turn.
        alone = isinstance(node, GraphFunctionCall | Collective)
        overtakes = open_segment and alone and needed.isdisjoint(other.id for other in groups[-1])
        ahead = _ahead(groups[-1], needed, effects, sliced) if open_segment and alone else []
        if ahead:
            groups[-1:] = [ahead, [node], [other for other in groups[-1] if other not in ahead]]
        else:
            groups.insert(len(groups) - overtakes, [node])
    return groups


def _segment_before(
    groups: Sequence[list[Node]], needed: set[int], effects: Mapping[int, Effects]
) -> list[Node] | None:
    """The segment ahead of the collectives at the end, for a node that needs `needed`, if it needs none of these."""
    for group in reversed(groups):
        if not effects[group[0].id].is_border:
            return group
        if not isinstance(group[0], Collective) or group[0].id in needed:
            return None
    return None


def _needs(node: Node, others: Sequence[Node]) -> bool:
    """Whether a node uses what one of the others makes."""
    needed = producers(*(expression for _, expression in arguments_of(node)))
    return not needed.isdisjoint(other.id for other in others)


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
    if any(effects[n.id].host and n.component == node.component for n in walk_nodes(later)):
        return frozenset(range(node.returns))
    returned = {ref.source for ref in references(results)}
    copied = set()
    for index in range(node.returns):
        shared: set[Source] = {Output(node.id, index)}
        for other in later:
            outputs = enumerate(outputs_of(other))
            shared.update(output for i, output in outputs if viewed(other, i, effects) & shared)
        if shared & returned:
            copied.add(index)
    return frozenset(copied)
