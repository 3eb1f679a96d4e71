"""The compiler: the phases between a root component and the programs of its API methods, each with its passes in order.

======== ===================================== ============== ==============================================
phase    from                                  to             what it settles
======== ===================================== ============== ==============================================
assemble a root component                      ComponentGraph who calls whom: every API method, run with symbols
build    that and the Spaces of its arguments  BuiltGraph     Spaces, variables, effects, devices
plan     one API method of it                  Plan           what is computed, in which order, in which segments
emit     that                                  source         readable Python: a driver, and a function per segment
link     that, a backend and its storage       a program      which functions, variables and locks the names mean
======== ===================================== ============== ==============================================

A backend emits segments itself, in its own dialect (see `rlgraph.core.graph.emission.emit_segment`).
"""

from __future__ import annotations

import pickle
import random
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rlgraph.core.former_names import with_present_names
from rlgraph.core.graph.assembly import assemble
from rlgraph.core.graph.built_graph import BuiltGraph, build_statistics
from rlgraph.core.graph.component_graph import ComponentGraph
from rlgraph.core.graph.devices import Device, Devices, resolve_devices
from rlgraph.core.graph.emission import emit_driver
from rlgraph.core.graph.emission.plan_page import plan_page
from rlgraph.core.graph.passes.collectives import differentiate_shares, lift_collectives
from rlgraph.core.graph.passes.containers import write_out
from rlgraph.core.graph.passes.contraction import contract as contract_calls
from rlgraph.core.graph.passes.dead_nodes import remove_dead_nodes
from rlgraph.core.graph.passes.equal_learners import check_equal_learners
from rlgraph.core.graph.passes.hoisting import hoist_gradients
from rlgraph.core.graph.passes.merging import merge_equal_calls
from rlgraph.core.graph.passes.packing import pack
from rlgraph.core.graph.passes.segments import check_derivatives, check_slices, split_into_segments
from rlgraph.core.graph.passes.slices import gradient_slices
from rlgraph.core.graph.passes.snapshots import find_snapshots, warn_of_large_copies
from rlgraph.core.graph.plan import FlatStep, Leaf, Plan, Segment, plan_statistics, size_of
from rlgraph.core.graph.region_inference import check_reach
from rlgraph.core.graph.space_flow import SpaceFlow
from rlgraph.core.graph.variables import Layout, lay_out
from rlgraph.core.ops.tensor_spec import TensorSpec
from rlgraph.spaces import Space

__all__ = ["assemble", "build", "link", "make_plan"]


def build(
    graph: ComponentGraph,
    input_spaces: Mapping[str, Any],
    *,
    action_space: Space | None = None,
    float_dtype: str = "float32",
    contract: bool = True,
    device: Device | None = None,
    device_map: Mapping[str, Device] | None = None,
    place: Callable[[dict[str, Devices]], dict[str, Devices]] = dict,
    shared: Layout | None = None,
) -> BuiltGraph:
    """Build an assembled graph. Nothing is executed and no framework is needed.

    A component's variables are created when the Spaces of all its arguments are known. If the build would stop there,
    because the arguments of a call depend on the component's own outputs, the first component in program order whose
    build hooks read only known Spaces is created ahead. Its other calls are checked once they are known.

    Args:
        graph: the result of `assemble`.
        input_spaces: argument name -> Space (or spec of one) of the root's API methods; ``method.argument`` where
            two methods give one name different Spaces. ``"variables:policy"`` is a Tuple of the Spaces of the
            variables of the component at that scope, sorted by scoped name, as its ``variables()`` are.
        action_space: passed to `check_input_spaces` and `create_variables`.
        float_dtype: ``float32`` or ``float64``.
        contract: False keeps every call of a component's API method a call of its own in the emitted source, and
            merges no pure calls: for stepping through with a debugger, and for profiles by component.
        device, device_map: where components are placed (see `rlgraph.core.graph.devices`).
        place: turns these devices into the backend's.
        shared: the layout of another graph, whose tensor variables are among those of this one.

    Raises:
        BuildError: a Space is missing or does not fit, a graph function fails, or components wait for each other;
            names the component, its argument and what would supply it. A note shows the graph around the place, and
            ``rlgraph.draw.draw(error)`` draws it.
    """
    devices = place(resolve_devices(graph, device, device_map))
    started = time.perf_counter()
    flow = SpaceFlow(graph, with_present_names(input_spaces), action_space, float_dtype, devices)
    drawn = _global_draws()
    with flow.explained():
        flow.graph = differentiate_shares(contract_calls(flow.graph))
        check_reach(flow.graph)
        flow.run()
        flow.graph = write_out(flow.graph, flow.expanded, flow.replaced)
        flow.check_results()
        check_equal_learners(flow.graph, flow.effects)
        layout = lay_out(list(flow.variables.values()), flow.steppers(), shared)
    if drawn != _global_draws():
        warnings.warn(
            "random numbers of Python's random or of numpy.random were drawn while the graph was built. A graph "
            "function runs then only, and has the same numbers for ever: draw them with ops.random_uniform or so; a "
            "starting value is drawn by its initializer",
            RuntimeWarning,
            stacklevel=2,
        )
    return BuiltGraph(
        graph=flow.graph,
        input_spaces=flow.input_spaces,
        values=flow.values,
        effects={id_: effects for id_, effects in flow.effects.items() if id_ in flow.graph.nodes},
        variables=flow.variables,
        layout=layout,
        devices=devices,
        float_dtype=float_dtype,
        action_space=action_space,
        contracted=contract,
        statistics=build_statistics(flow.graph, flow.variables, started),
    )


def _global_draws() -> tuple[Any, ...]:
    """What changes whenever somebody draws from the random numbers that a whole process shares."""
    return random.getstate(), pickle.dumps(np.random.get_state(legacy=False))  # noqa: NPY002


def make_plan(built: BuiltGraph, method: str) -> Plan:
    """The plan of the root's API method `method`."""
    started = time.perf_counter()
    nodes, results = built.graph.nodes_of(method), built.graph.results_of(method)
    sizes = [size_of(nodes)]
    nodes, results = merge_equal_calls(nodes, results, built.effects, built.contracted)
    sizes.append(size_of(nodes))
    nodes = remove_dead_nodes(nodes, results, built.effects)
    sizes.append(size_of(nodes))
    nodes = hoist_gradients(nodes)
    slices, data = gradient_slices(nodes, built.effects)
    nodes = lift_collectives(nodes, slices, built.effects)
    warn_of_large_copies(nodes, built.effects, built.variables)
    copies = find_snapshots(nodes, results, built.effects)
    steps = split_into_segments(built, nodes, results, frozenset[int]().union(*slices.values()))
    check_slices(steps, slices)
    check_derivatives(built, steps)
    steps = pack(built, steps, results)
    statistics = plan_statistics(sizes, steps, started)
    return Plan(method, built, tuple(nodes), results, slices, data, copies, steps, statistics, plan_page)


def link(
    plan: Plan,
    lower: Callable[[Segment], Callable[..., Any]],
    host_view: Callable[[str], Any],
    convert: Callable[[str, Leaf, TensorSpec], Callable[[Any], np.ndarray]],
    guard: Callable[[FlatStep], Any],
    stream: Callable[[str], Any] = lambda name: None,
    group: Any = None,
    receive: Callable[[np.ndarray], Any] | None = None,
) -> Callable[..., Any]:
    """The program of a plan: NumPy in, NumPy out.

    Args:
        plan: the plan.
        lower: what a backend makes of a segment.
        host_view, convert, guard, stream, group, receive: as for `rlgraph.core.graph.emission.emit_driver`.
    """
    lowered = {segment.name: lower(segment) for segment in plan.segments}
    return emit_driver(plan, lowered, host_view, convert, guard, stream, group, receive).compile()
