"""The component graph: assembly, build, passes, plans, emission. It knows no framework and no concrete component."""

from rlgraph.core.graph.built_graph import BuiltGraph, require_kernels
from rlgraph.core.graph.component_graph import ComponentGraph, RootMethod
from rlgraph.core.graph.control_flow import branch, loop
from rlgraph.core.graph.pipeline import assemble, build, link, make_plan
from rlgraph.core.graph.plan import Plan, Segment
from rlgraph.core.graph.trace import Symbol, all_reduce, gradients, in_group
from rlgraph.core.graph.variables import Block, Layout, Variable, VariableList

__all__ = [
    "Block",
    "BuiltGraph",
    "ComponentGraph",
    "Layout",
    "Plan",
    "RootMethod",
    "Segment",
    "Symbol",
    "Variable",
    "VariableList",
    "all_reduce",
    "assemble",
    "branch",
    "build",
    "gradients",
    "in_group",
    "link",
    "loop",
    "make_plan",
    "require_kernels",
]
