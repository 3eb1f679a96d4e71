"""Replication: several devices share the work of an update, and the optimizer steps once.

Before::

    %1 = target_policy.q_values(next_states)
    %2 = policy.q_values(states)
    %3, %4 = loss.loss(%2, %1)             # the mean [], per item [B]
    %5 = gradients(%3, policy.variables)
    %6 = optimizer.step(%5)
    return %3, %4

After, with two replicas::

    states_0, states_1 = split(states)     # next_states likewise
    %10 = replica_0/target_policy.q_values(next_states_0)
    %11 = replica_0/policy.q_values(states_0)
    %12, %13 = replica_0/loss.loss(%11, %10)
    %14 = weigh(%12, share_0)              # its share in the batch
    %15 = gradients(%14, policy.variables)
    ...                                    # %20 to %25: the same of replica_1
    %30 = sum(%15, %25)
    %6 = optimizer.step(%30)
    return sum(%14, %24), join(%13, %23)

A replica has the slice of every derivative, and what is computed for it with variables from the same batch, such as
the values of a target network. All else is computed once, of the whole batch. The result is that of one device if the
losses are means over the batch. Every replica reads the one set of variables, so there is nothing to keep equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from rlgraph.core.errors import BuildError
from rlgraph.core.graph.built_graph import BuiltGraph
from rlgraph.core.graph.nodes import (
    Expression,
    Gradients,
    GraphFunctionCall,
    Node,
    Output,
    Ref,
    Region,
    arguments_of,
    label,
    outputs_of,
    walk_nodes,
    with_regions,
)
from rlgraph.core.graph.passes.dead_nodes import producers
from rlgraph.core.graph.passes.replica_copies import Copying, Replication, symbols_of
from rlgraph.core.graph.passes.replica_towers import Members, Towers
from rlgraph.core.graph.passes.slices import gradient_slices
from rlgraph.core.graph.values import describe
from rlgraph.core.ops.dims import RankSize


def replicate(
    built: BuiltGraph, method: str, nodes: Sequence[Node], results: Expression, replication: Replication
) -> tuple[BuiltGraph, list[Node], Expression]:
    """`nodes` and `results` of a plan with every derivative taken by replicas, and a build that knows the new nodes.

    Raises:
        BuildError: a batch cannot be split, or what replicas compute cannot be put together: names the node.
    """
    if not any(isinstance(node, Gradients) for node in walk_nodes(nodes)):
        return built, list(nodes), results
    copying = Copying(built, method, replication)
    nodes, results = _shared(copying, nodes, results)
    graph = built.graph
    call = graph.calls[graph.methods[method].call]
    extended = replace(
        graph,
        components=copying.components,
        methods={
            **graph.methods,
            method: replace(graph.methods[method], nodes=tuple(node.id for node in nodes)),
        },
        nodes={**graph.nodes, **{node.id: node for node in walk_nodes(nodes)}},
        calls={**copying.calls, call.id: replace(call, results=results)},
    )
    built = replace(
        built, graph=extended, values=copying.values, effects=copying.effects, devices=copying.devices
    )
    return built, nodes, results


def _shared(
    copying: Copying, nodes: Sequence[Node], results: Expression, outer: Sequence[Node] = ()
) -> tuple[list[Node], Expression]:
    """The nodes of a plan or region, shared by replicas; inner regions first."""

    def region(around: Sequence[Node], old: Region) -> Region:
        inside, left = _shared(copying, old.nodes, old.results, around)
        return Region(tuple(inside), left)

    nodes = [
        with_regions(node, partial(region, [*outer, *nodes[:position]]))
        for position, node in enumerate(nodes)
    ]
    if not any(isinstance(node, Gradients) for node in nodes):
        return nodes, results
    members = _members(copying, nodes, outer)
    return Towers(copying, members, nodes, results).write() if members.ids else (nodes, results)


# What is copied.


def _members(copying: Copying, nodes: Sequence[Node], outer: Sequence[Node]) -> Members:
    slices, _ = gradient_slices(nodes, copying.effects, outer)
    here = {node.id: node for node in nodes}
    symbols: dict[str, Node] = {}
    sliced: set[int] = set()
    for node in nodes:
        if isinstance(node, Gradients):
            inside = slices[node.id] & here.keys()
            symbol = _batch_of(copying, node, [here[id_] for id_ in sorted(inside)])
            if symbol is not None:
                symbols[symbol] = node
                sliced |= inside | {node.id}
    if len(symbols) > 1:
        (first, node), (second, other), *_ = symbols.items()
        raise BuildError(
            f"{label(other)}: replicas split the batch {second} here and {first} in {label(node)}: "
            "derivatives that are taken side by side must be of one batch"
        )
    if not symbols:
        return Members("", frozenset())
    (symbol,) = symbols
    return Members(symbol, frozenset(sliced | _supply(copying, nodes, sliced, symbol)))


def _batch_of(copying: Copying, node: Gradients, inside: Sequence[Node]) -> str | None:
    """The symbol of the batch of a derivative; None if it has no batch."""
    made = {each.id for each in inside}
    entering = [
        (leaf, spec)
        for each in inside
        for leaf, spec in copying.tensors(e for _, e in arguments_of(each))
        if not (isinstance(leaf.source, Output) and leaf.source.node in made) and spec.shape
    ]
    if not entering:
        return None
    named = [(spec, found) for _, spec in entering if (found := symbols_of(spec))]
    common = frozenset.intersection(*(found for _, found in named)) if named else frozenset[str]()
    if len(common) > 1:  # such as [B, N]: the batch comes first
        firsts = {str(spec.shape[0]) for spec, _ in named}
        common = common & firsts if len(common & firsts) == 1 else common
    if len(common) == 1:
        return next(iter(common))
    shown = ", ".join(dict.fromkeys(describe(spec) for _, spec in entering))
    fixed = any(isinstance(size, RankSize) for _, spec in entering for size in spec.shape)
    advice = (
        "replicas need a batch of open size: add_batch_rank=True"
        if fixed or not named
        else "all of it must have the batch as one of its sizes"
    )
    raise BuildError(
        f"{label(node)}: there is no batch that replicas could split, the loss is computed from {shown}: {advice}"
    )


def _supply(copying: Copying, nodes: Sequence[Node], sliced: set[int], symbol: str) -> set[int]:
    """What is computed with variables, item by item as far as can be seen, for the nodes of the slices."""
    effects = copying.effects
    learned: set[int] = set()
    for node in nodes:
        operands = [e for _, e in arguments_of(node)]
        if effects[node.id].reads - effects[node.id].draws or producers(*operands) & learned:
            learned.add(node.id)
    needed = producers(*(e for node in nodes if node.id in sliced for _, e in arguments_of(node)))
    found: set[int] = set()
    for node in reversed(nodes):
        if node.id not in needed or node.id in sliced:
            continue
        needed |= producers(*(e for _, e in arguments_of(node)))
        own = effects[node.id]
        made = [spec for _, spec in copying.tensors(Ref(output) for output in outputs_of(node))]
        if (
            isinstance(node, GraphFunctionCall)
            and node.id in learned
            and not (own.host or own.writes - own.draws)
            and made
            and all(symbol in symbols_of(spec) for spec in made)
            and any(
                symbol in symbols_of(spec) for _, spec in copying.tensors(e for _, e in arguments_of(node))
            )
        ):
            found.add(node.id)
    return found
