"""Slices: what lies between the differentiated variables and their loss; only there a backend records derivatives.

Before::

    %1 = target_policy.q_values(next_states)
    %2 = policy.q_values(states)
    %3 = loss.loss(%1, %2)
    %4 = gradients(%3, policy.variables)

After::

    %1 = target_policy.q_values(next_states)
    %2 = policy.q_values(states)           # slice of %4
    %3 = loss.loss(%1, %2)                 # slice of %4
    %4 = gradients(%3, policy.variables)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlgraph.core.errors import BuildError
from rlgraph.core.graph.nodes import (
    Collective,
    Gradients,
    Node,
    Output,
    arguments_of,
    label,
    outputs_of,
    references,
    regions_of,
    walk_nodes,
)
from rlgraph.core.graph.passes.dead_nodes import producers
from rlgraph.core.ops.effects import Effects


def gradient_slices(
    nodes: Sequence[Node], effects: Mapping[int, Effects], outer: Sequence[Node] = ()
) -> tuple[dict[int, frozenset[int]], frozenset[Output]]:
    """For each `gradients` node the ids of the nodes on a path from its variables to its loss.

    A loop or branch on such a path is in the slice with everything inside it. The slice of a derivative that is taken
    in a region lies in that region: what was made outside enters as data.

    Args:
        nodes: a plan's nodes, or those of a region.
        effects: of all nodes.
        outer: the nodes ahead of the region, where `nodes` are those of one.

    Returns:
        The slices, and the outputs that enter regions as data though variables of a derivative inside went into them.

    Raises:
        BuildError: a host function or collective lies on such a path; it cannot be differentiated. A variable that was
            read on such a path is written before the derivative is taken, which backends would not notice. A variable
            is read outside of the region in which the derivative is taken, and not inside.
    """
    here = {node.id: node for node in nodes}
    everything = {node.id: node for node in outer} | here
    slices: dict[int, frozenset[int]] = {}
    data = frozenset[Output]()
    for position, node in enumerate(nodes):
        for region in regions_of(node):
            inner, entering = gradient_slices(region.nodes, effects, [*outer, *nodes[:position]])
            slices, data = slices | inner, data | entering
        if not isinstance(node, Gradients):
            continue
        inside = _slice(node, here, effects)
        whole = _slice(node, everything, effects) if outer else inside
        if not whole:
            raise BuildError(f"{label(node)}: the loss does not depend on any of the variables")
        outside = [everything[id_] for id_ in sorted(whole - here.keys())]
        _check_place(node, inside, outside, effects)
        _check_borders(node, inside, here, effects)
        _check_regions(node, inside, here, effects)
        _check_writes(node, inside, nodes, effects)
        slices[node.id] = frozenset(n.id for n in walk_nodes(here[id_] for id_ in sorted(inside)))
        data |= _entering([here[id_] for id_ in whole & here.keys()], outside)
    _check_order(nodes, slices)
    return slices, data


def _slice(node: Gradients, by_id: Mapping[int, Node], effects: Mapping[int, Effects]) -> set[int]:
    """The nodes among `by_id` on a path from the variables to the loss."""
    above = _ancestors(node, by_id, effects)
    differentiated = effects[node.id].reads
    inside: set[int] = set()
    for id_, other in by_id.items():
        if id_ not in above or isinstance(other, Gradients):
            continue
        if effects[id_].reads & differentiated or _differentiable_inputs(other, effects) & inside:
            inside.add(id_)
    return inside


def _entering(inside: Sequence[Node], outside: Sequence[Node]) -> frozenset[Output]:
    """What the nodes `outside` make and those `inside` use."""
    made = {output for node in outside for output in outputs_of(node)}
    used = (ref.source for n in inside for _, e in arguments_of(n) for ref in references(e))
    return frozenset(source for source in used if isinstance(source, Output) and source in made)


def _check_place(
    node: Gradients, inside: set[int], outside: Sequence[Node], effects: Mapping[int, Effects]
) -> None:
    """A variable that is read outside only has no derivative inside."""
    missing = effects[node.id].reads.difference(*(effects[id_].reads for id_ in inside))
    for other in outside:
        for name in sorted(effects[other.id].reads & missing):
            raise BuildError(
                f"{label(node)}: it is taken inside a loop or branch, and {label(other)}, which reads {name} and from "
                "which the loss is computed, is called outside: call it inside as well"
            )


def _check_borders(
    node: Gradients, inside: set[int], by_id: Mapping[int, Node], effects: Mapping[int, Effects]
) -> None:
    for other in (by_id[id_] for id_ in sorted(inside)):
        if effects[other.id].collective:
            sum_ = next(label(n) for n in walk_nodes([other]) if isinstance(n, Collective))
            raise BuildError(
                f"{label(node)}: {sum_}(...) lies between a differentiated variable and the loss: no derivative goes "
                "back through a sum over learners. The loss itself may be one: reduce it last"
            )
        if effects[other.id].host:
            called = next(label(n) for n in walk_nodes([other]) if effects[n.id].host and not regions_of(n))
            raise BuildError(
                f"{label(node)}: the host function {called} lies between a differentiated variable and the loss; host "
                "functions have no derivative. Compute this part in a graph function"
            )


def _check_regions(
    node: Gradients, inside: set[int], by_id: Mapping[int, Node], effects: Mapping[int, Effects]
) -> None:
    """In a loop, what comes after a read also comes before the next one; so no write in a region is allowed."""
    differentiated = effects[node.id].reads
    for region in (by_id[id_] for id_ in sorted(inside) if regions_of(by_id[id_])):
        calls = [n for n in walk_nodes([region]) if not regions_of(n)]
        readers = [n for n in calls if effects[n.id].carries or effects[n.id].reads & differentiated]
        for writer in calls:
            for reader in readers:
                shared = effects[reader.id].reads & effects[writer.id].writes
                # A function that reads what it then writes has a copy of it.
                for name in sorted(shared if reader is not writer else shared & differentiated):
                    raise BuildError(
                        f"{label(node)}: the loss comes out of {label(region)}, in which {label(reader)} reads {name} "
                        f"and {label(writer)} writes it: write it after the derivative"
                    )


def _check_order(nodes: Sequence[Node], slices: Mapping[int, frozenset[int]]) -> None:
    """Derivatives inside a region that is differentiated itself would be derivatives of derivatives."""
    for node in nodes:
        if isinstance(node, Gradients):
            for other in nodes:
                within = [n for n in walk_nodes([other]) if n is not other and isinstance(n, Gradients)]
                if within and other.id in slices[node.id]:
                    raise BuildError(
                        f"{label(node)}: the loss comes out of a loop or branch in which {label(within[0])} is taken: "
                        "derivatives of derivatives are not supported"
                    )


def _check_writes(
    node: Gradients, inside: set[int], nodes: Sequence[Node], effects: Mapping[int, Effects]
) -> None:
    read: dict[str, Node] = {}
    for other in nodes[: nodes.index(node)]:
        for name in sorted(effects[other.id].writes & read.keys()):
            raise BuildError(
                f"{label(node)}: {label(other)} writes {name} between {label(read[name])}, from which the loss is "
                "computed, and the derivative: compute the loss before that write"
            )
        if other.id in inside:
            read.update(dict.fromkeys(effects[other.id].reads, other))


def _ancestors(node: Gradients, by_id: Mapping[int, Node], effects: Mapping[int, Effects]) -> set[int]:
    found: set[int] = set()
    pending = list(producers(node.loss))
    while pending:
        current = pending.pop()
        # What comes from further out than the surroundings of the region is no part of this plan's nodes.
        if current not in found and current in by_id:
            found.add(current)
            pending.extend(_differentiable_inputs(by_id[current], effects))
    return found


def _differentiable_inputs(node: Node, effects: Mapping[int, Effects]) -> set[int]:
    """The nodes through whose outputs a derivative flows back from `node`; none through argmax or stop_gradient."""
    carries = effects[node.id].carries
    return producers(*(expression for name, expression in arguments_of(node) if name in carries))
