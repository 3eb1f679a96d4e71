"""The plan of one API method as Python source: the calls at run time, without components."""

from __future__ import annotations

from typing import Any

from rlgraph.draw.drawing import plan_of


def plan_text(built: Any, method: str) -> str:
    """The driver and the segments of an API method, as emitted for a backend without additions.

    Nothing is run, so plans that need gradients are shown too.

    Args:
        built: a `BuiltGraph` or a graph executor.
        method: name of an API method of the root.

    Raises:
        RLGraphError: the graph is not built, or the method is unknown.
    """
    return plan_of(built, method).source
