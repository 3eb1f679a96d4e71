"""The plan of one API method as Python source: the calls at run time, without components."""

from __future__ import annotations

from typing import Any

from rlgraph.core.errors import RLGraphError, nearest
from rlgraph.core.graph.pipeline import make_plan
from rlgraph.draw.drawing import contracted_graph


def plan_text(built: Any, method: str) -> str:
    """The driver and the segments of an API method, as emitted for a backend without additions.

    Nothing is run, so plans that need gradients are shown too.

    Args:
        built: a `BuiltGraph` or a graph executor.
        method: name of an API method of the root.

    Raises:
        RLGraphError: the graph is not built, or the method is unknown.
    """
    graph, build = contracted_graph(built)
    if build is None:
        raise RLGraphError(
            f"a plan needs a build, and {graph.root} has none: pass a BuiltGraph or a graph executor"
        )
    if method not in graph.methods:
        raise RLGraphError(f"{graph.root} has no API method {method!r}. {nearest(method, graph.methods)}")
    return make_plan(build, method).source
