"""Acting: whether the backend runs the acting methods, or NumPy on the same variables.

A method that acts is called at every step of an environment, for one row or a few. With a small network, most of its
time is the framework's overhead.
"""

from __future__ import annotations

from collections.abc import Sequence

from rlgraph.core.errors import CapabilityError
from rlgraph.core.execution_spec import ExecutionSpec
from rlgraph.core.graph.nodes import walk_nodes
from rlgraph.core.graph.plan import Plan
from rlgraph.core.runtime.programs import Programs

#: Plans that read variables of more elements than this act on their backend.
NUMPY_ACTING_LIMIT = 200_000


def choose_actor(programs: Programs, execution: ExecutionSpec) -> str:
    """Who runs the acting methods of `execution`, ``"numpy"`` or ``"backend"``; NumPy's programs of them are made.

    What ``act_on="auto"`` chose, and why, is noted among the backend's choices.

    Raises:
        CapabilityError: NumPy is asked for, and cannot run one of them.
    """
    methods, actor = execution.acting_methods, execution.act_on
    if actor == "backend" or not methods:
        return "backend"
    if actor == "auto":
        actor, reason = choose([programs.plan(method) for method in methods])
    try:
        if actor == "numpy":
            programs.act_on_numpy(methods)
    except CapabilityError:
        if execution.act_on == "numpy":
            raise
        actor, reason = "backend", "a part of it has native kernels only"
    if execution.act_on == "auto":
        programs.backend.choices["acting"] = f"{actor} ({reason})"
    return actor


def choose(plans: Sequence[Plan]) -> tuple[str, str]:
    """Who runs these plans, ``"numpy"`` or ``"backend"``, and why.

    A static rule, so that every run of a configuration acts alike: NumPy for plans that read at most 200,000
    parameters, convolve nothing, write no variable and need no gradients. They act together, or not at all.
    """
    parameters = number_of_parameters(plans)
    if any(plan.writes for plan in plans):
        return "backend", "it writes variables"
    if any(plan.needs_gradients for plan in plans):
        return "backend", "it needs gradients"
    if any(map(convolves, plans)):
        return "backend", "it convolves"
    if parameters > NUMPY_ACTING_LIMIT:
        return "backend", f"{parameters:,} parameters"
    return "numpy", f"{parameters:,} parameters, no convolution"


def number_of_parameters(plans: Sequence[Plan]) -> int:
    """Elements of the variables that plans read, all together."""
    return sum(
        plans[0].built.variables[name].size for name in frozenset().union(*(plan.reads for plan in plans))
    )


def convolves(plan: Plan) -> bool:
    """Whether anything in a plan is a convolution."""
    effects = plan.built.effects
    return any(
        "convolution" in effects[node.id].families for node in walk_nodes(plan.nodes) if node.id in effects
    )
