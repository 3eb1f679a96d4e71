"""Extracts a scene from a component graph."""

from __future__ import annotations

from rlgraph.draw.elements import Elements
from rlgraph.draw.graph_view import View
from rlgraph.draw.scene import Scene
from rlgraph.draw.wires import Flows


def extract(view: View) -> Scene:
    """The scene of a view."""
    elements = Elements(view)
    flows = Flows(elements)
    return Scene(elements.nest(), flows.by_container, flows.labels, view.methods, sorted(view.graph.methods))
