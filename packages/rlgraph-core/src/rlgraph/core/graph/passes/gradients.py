"""Gradients: move each `gradients` node up to its loss, and find the slice it differentiates.

Before::

    %4 = loss.loss(%3)
    %5 = optimizer_a.step(...)             # writes a variable the slice of %6 has read
    %6 = gradients(%4, policy.variables)

After::

    %4 = loss.loss(%3)
    %6 = gradients(%4, policy.variables)   # before any write
    %5 = optimizer_a.step(...)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlgraph.core.errors import BuildError
from rlgraph.core.graph.nodes import Gradients, Node, VariablesOf, arguments_of, label
from rlgraph.core.graph.passes.dead_nodes import producers
from rlgraph.core.ops.effects import Effects


def hoist_gradients(nodes: Sequence[Node]) -> list[Node]:
    """`nodes` with every `gradients` node right behind its loss. Lists of variables come first: they always stand."""
    result: list[Node] = [node for node in nodes if isinstance(node, VariablesOf)]
    result.extend(node for node in nodes if not isinstance(node, VariablesOf | Gradients))
    for node in nodes:
        if isinstance(node, Gradients):
            needed = producers(node.loss, node.variables)
            last = max((i for i, other in enumerate(result) if other.id in needed), default=-1)
            # Gradients of one loss stay in their order.
            while last + 1 < len(result) and isinstance(result[last + 1], Gradients):
                last += 1
            result.insert(last + 1, node)
    return result


def gradient_slices(nodes: Sequence[Node], effects: Mapping[int, Effects]) -> dict[int, frozenset[int]]:
    """For each `gradients` node the ids of the nodes on a path from its variables to its loss.

    Raises:
        BuildError: a host function lies on such a path; it cannot be differentiated. Or a variable that was read on
            such a path is written before the derivative is taken, which backends would not notice.
    """
    by_id = {node.id: node for node in nodes}
    slices = {}
    for node in nodes:
        if not isinstance(node, Gradients):
            continue
        above = _ancestors(node, by_id, effects)
        differentiated = effects[node.id].reads
        inside: set[int] = set()
        for other in nodes:
            if other.id not in above or isinstance(other, Gradients):
                continue
            inputs = _differentiable_inputs(other, effects)
            if effects[other.id].reads & differentiated or inputs & inside:
                if effects[other.id].host:
                    raise BuildError(
                        f"{label(node)}: the host function {label(other)} lies between a differentiated variable "
                        "and the loss; host functions have no derivative. Compute this part in a graph function"
                    )
                inside.add(other.id)
        if not inside:
            raise BuildError(f"{label(node)}: the loss does not depend on any of the variables")
        _check_writes(node, inside, nodes, effects)
        slices[node.id] = frozenset(inside)
    return slices


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
        if current not in found:
            found.add(current)
            pending.extend(_differentiable_inputs(by_id[current], effects))
    return found


def _differentiable_inputs(node: Node, effects: Mapping[int, Effects]) -> set[int]:
    """The nodes through whose outputs a derivative flows back from `node`; none through argmax or stop_gradient."""
    carries = effects[node.id].carries
    return producers(*(expression for name, expression in arguments_of(node) if name in carries))
