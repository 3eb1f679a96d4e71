"""From a component graph to the scene that shows it."""

from __future__ import annotations

from rlgraph.draw.elements import Elements
from rlgraph.draw.flows import Flows
from rlgraph.draw.scene import Scene
from rlgraph.draw.view import View


def extract(view: View) -> Scene:
    """The scene of a view."""
    elements = Elements(view)
    flows = Flows(elements)
    return Scene(elements.nest(), flows.by_container, flows.labels, view.methods, sorted(view.graph.methods))
