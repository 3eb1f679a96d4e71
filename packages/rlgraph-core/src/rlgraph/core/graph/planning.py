"""From a built graph to the plan of one API method: the passes, in their order."""

from __future__ import annotations

import time
from collections.abc import Iterable

from rlgraph.core.errors import BuildError
from rlgraph.core.graph.build import BuiltGraph
from rlgraph.core.graph.nodes import GraphFunctionCall, Node, label, walk_nodes
from rlgraph.core.graph.passes.dead_nodes import remove_dead_nodes
from rlgraph.core.graph.passes.hoisting import hoist_gradients
from rlgraph.core.graph.passes.merging import merge_equal_calls
from rlgraph.core.graph.passes.replica_copies import Replication
from rlgraph.core.graph.passes.replication import replicate
from rlgraph.core.graph.passes.segments import check_derivatives, check_slices, split_into_segments
from rlgraph.core.graph.passes.slices import gradient_slices
from rlgraph.core.graph.passes.snapshots import find_snapshots, warn_of_large_copies
from rlgraph.core.graph.plan import HostStep, Plan, Segment, Step, walk_steps


def make_plan(built: BuiltGraph, method: str, replication: Replication | None = None) -> Plan:
    """The plan of the root's API method `method`; its updates are shared by replicas if there is a `replication`."""
    started = time.perf_counter()
    graph, effects = built.graph, built.effects
    results = graph.results_of(method)
    nodes = [graph.nodes[id_] for id_ in graph.methods[method].nodes]
    sizes = [_size(nodes)]
    if built.contracted:
        nodes, results = merge_equal_calls(nodes, results, effects)
    sizes.append(_size(nodes))
    nodes = remove_dead_nodes(nodes, results, effects)
    sizes.append(_size(nodes))
    nodes = hoist_gradients(nodes)
    if replication is not None:
        built, nodes, results = replicate(built, method, nodes, results, replication)
        effects = built.effects
    slices, data = gradient_slices(nodes, effects)
    warn_of_large_copies(nodes, effects, built.variables)
    steps = split_into_segments(built, nodes, results)
    plan = Plan(
        name=method,
        built=built,
        nodes=tuple(nodes),
        results=results,
        slices=slices,
        data=data,
        copies=find_snapshots(nodes, results, effects),
        steps=steps,
        statistics={**_statistics(sizes, steps), "planning_seconds": time.perf_counter() - started},
    )
    check_slices(plan.segments, slices)
    check_derivatives(built, plan.segments)
    return plan


def _size(nodes: Iterable[Node]) -> int:
    """The number of nodes, those inside loops and branches too."""
    return sum(1 for _ in walk_nodes(nodes))


def _statistics(sizes: list[int], steps: Iterable[Step]) -> dict[str, float | int]:
    """What the passes did; `sizes` are the numbers of nodes before, between and behind them."""
    traced, unmerged, left = sizes
    walked = list(walk_steps(steps))
    return {
        "nodes_traced": traced,
        "nodes_merged": traced - unmerged,
        "nodes_dropped": unmerged - left,
        "nodes": left,
        "segments": sum(isinstance(step, Segment) for step in walked),
        "host_calls": sum(isinstance(step, HostStep) for step in walked),
    }


def require_kernels(built: BuiltGraph, backend: str) -> None:
    """Check that the graph functions that have kernels only have one for `backend`.

    Raises:
        BuildError: one has not; says for which backends it has.
    """
    for node in built.graph.nodes.values():
        if isinstance(node, GraphFunctionCall):
            function = built.graph.components[node.component].graph_function(node.function)
            if function.kernels_only and backend not in function.kernels:
                backends = " or ".join(repr(name) for name in sorted(function.kernels))
                words = (function.function.__doc__ or "").strip().partition("\n")[0].rstrip(".")
                known, other = (f" ({words})", "") if words else ("", ", or give it a body")
                raise BuildError(
                    f"{label(node)}{known} has no body and no kernel for {backend!r}: "
                    f"build with backend={backends}{other}"
                )
