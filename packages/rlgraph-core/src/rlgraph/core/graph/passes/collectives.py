"""Collectives: sums over all learners of a group, ahead of what is differentiated and after the derivatives.

Before::

    %1 = policy.log_probs(states)
    %2 = standardize.sum(advantages)
    %3 = all_reduce(%2)
    %4, %5 = loss.total(%1, advantages, %3)    # of one learner: the sum over its items, and their number
    %6 = all_reduce(%4, %5)                    # the loss
    %7 = gradients(%6, policy.variables)
    %8 = all_reduce(%7)
    %9 = optimizer.step(%8)

After::

    %2 = standardize.sum(advantages)
    %3 = all_reduce(%2)
    %1 = policy.log_probs(states)
    %4, %5 = loss.total(%1, advantages, %3)
    %7 = gradients(%4, policy.variables)
    %6 = all_reduce(%4, %5)
    %8 = all_reduce(%7, %5)
    %9 = optimizer.step(%8)

The derivative of a sum over learners is the sum of their derivatives. What is summed ahead of the derivative is lifted
ahead of all that is differentiated, so that no border lies inside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rlgraph.core.errors import BuildError
from rlgraph.core.graph.component_graph import ComponentGraph
from rlgraph.core.graph.nodes import (
    Collective,
    Gradients,
    Node,
    Output,
    Ref,
    Region,
    arguments_of,
    descend,
    label,
    with_regions,
)
from rlgraph.core.graph.passes.dead_nodes import producers
from rlgraph.core.graph.values import Value, describe, leaves, map_leaves
from rlgraph.core.graph.variables import GradientList
from rlgraph.core.ops.effects import Effects
from rlgraph.core.ops.tensor_spec import TensorSpec


def infer_collective(node: Collective, value: Value, number: Value) -> tuple[tuple[Value, ...], Effects]:
    """The output and effects of a collective.

    Raises:
        BuildError: it cannot be added up.
    """
    for path, leaf in () if isinstance(value, GradientList) else leaves(value):
        where = f"{label(node)}(value{''.join(f'[{key!r}]' for key in path)})"
        if not (isinstance(leaf, TensorSpec) and leaf.is_float):
            raise BuildError(f"{where}: only floats are added up, given {describe(leaf)}")
        if not all(isinstance(size, int) for size in leaf.shape):
            raise BuildError(
                f"{where}: learners may differ in a size of {leaf}: add it up over that axis first, ops.sum(...)"
            )
    if number is not None and not (isinstance(number, TensorSpec) and number.is_float and number.shape == ()):
        raise BuildError(
            f"{label(node)}: the number must be one float without axes, given {describe(number)}"
        )
    made = map_leaves(lambda leaf: leaf.unbounded() if isinstance(leaf, TensorSpec) else leaf, value)
    nothing = (frozenset[str](),)
    carries = frozenset({"value"})
    return (made,), Effects(collective=True, aliases=nothing, views=nothing, carries=carries)


def differentiate_shares(graph: ComponentGraph) -> ComponentGraph:
    """`graph` in which every derivative of a group is taken of the learner's own part of the loss.

    Raises:
        BuildError: the loss is not a sum over all learners, or derivatives are added up twice.
    """
    sums = {id_: node for id_, node in graph.nodes.items() if isinstance(node, Collective)}
    of_loss: dict[int, Collective] = {}
    for node in sums.values():
        for id_ in producers(node.value):
            derivative = graph.nodes[id_]
            if isinstance(derivative, Gradients):
                of_loss[id_] = of_loss[node.id] = _sum_of(derivative, sums)
    for node in sums.values():
        if not producers(node.value).isdisjoint(of_loss.keys() & sums.keys()):
            raise BuildError(f"{label(node)}: what gradients(...) returns is a sum over all learners already")

    def changed(node: Node) -> Node:
        if isinstance(node, Gradients) and node.id in of_loss:
            assert isinstance(node.loss, Ref)
            return replace(node, loss=descend(of_loss[node.id].value, node.loss.path))
        if isinstance(node, Collective) and node.id in of_loss:
            return replace(node, number=of_loss[node.id].number)
        return with_regions(node, lambda r: Region(tuple(map(changed, r.nodes)), r.results))

    return replace(graph, nodes={id_: changed(node) for id_, node in graph.nodes.items()}) if sums else graph


def _sum_of(node: Gradients, sums: Mapping[int, Collective]) -> Collective:
    """The collective that gives the loss."""
    source = node.loss.source if isinstance(node.loss, Ref) else None
    if not isinstance(source, Output) or source.node not in sums:
        raise BuildError(
            f"{label(node)}: the loss is of one learner alone: in a group it must be what all_reduce(total, number) "
            "returns, the mean over the items of all learners, as that of a LossFunction is"
        )
    return sums[source.node]


def lift_collectives(
    nodes: Sequence[Node], slices: Mapping[int, frozenset[int]], effects: Mapping[int, Effects]
) -> list[Node]:
    """`nodes` in which no collective lies between a differentiated variable and the loss.

    What the loss needs is ahead of it, with all that this needs, and the rest comes after the derivative.

    Raises:
        BuildError: one needs what is differentiated, or cannot be ahead of a write.
    """
    left = [
        with_regions(n, lambda r: Region(tuple(lift_collectives(r.nodes, slices, effects)), r.results))
        for n in nodes
    ]
    for node in nodes:
        after: list[Node] = []
        while isinstance(node, Gradients):
            first = next(i for i, other in enumerate(left) if other.id in slices[node.id])
            last = next(i for i, other in enumerate(left) if other.id == node.id)
            here = next((i for i in range(first, last) if isinstance(left[i], Collective)), None)
            if here is None:
                left[last + 1 : last + 1] = after
                break
            if not any(left[here].id in _operands(other) for other in left[here + 1 : last]):
                after.append(left.pop(here))
                continue
            span = left[first : here + 1]
            moved = _needed(node, span, slices[node.id], effects)
            left[first : here + 1] = [*moved, *(other for other in span if other not in moved)]
    return left


def _operands(node: Node) -> set[int]:
    """The nodes whose outputs a node uses."""
    return producers(*(expression for _, expression in arguments_of(node)))


def _needed(
    node: Gradients, span: Sequence[Node], inside: frozenset[int], effects: Mapping[int, Effects]
) -> list[Node]:
    """The last node of `span`, a collective, and all of it that this needs, in order."""
    moved: list[Node] = []
    needed, reads = {span[-1].id}, frozenset[str]()
    for other in reversed(span):
        own = effects[other.id]
        if other.id not in needed:
            for name in sorted(own.writes & reads):
                raise BuildError(
                    f"{label(span[-1])}: it needs {name}, which {label(other)} writes after the loss of {label(node)} "
                    "has begun: write it earlier"
                )
            continue
        if other.id in inside:
            raise BuildError(
                f"{label(span[-1])}: it needs {label(other)}, which lies between a variable and the loss of "
                f"{label(node)}: no derivative goes back through a sum over learners. Reduce after gradients(...), or "
                "compute what is reduced without the variables"
            )
        if own.writes or own.host:
            raise BuildError(
                f"{label(span[-1])}: it needs {label(other)}, which would run before the loss of {label(node)}, "
                "and writes, draws or calls Python: call it earlier"
            )
        needed |= _operands(other)
        moved.insert(0, other)
        reads |= own.reads
    return moved
