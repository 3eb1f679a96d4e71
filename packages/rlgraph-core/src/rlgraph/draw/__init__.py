"""Drawings of component graphs and pages about plans. SVG and text need no dependency; PNG needs ``[draw]``."""

from rlgraph.draw.drawing import PAGE, Drawing, draw
from rlgraph.draw.method_page import method_page
from rlgraph.draw.plan_outline import plan_outline
from rlgraph.draw.plan_text import plan_text
from rlgraph.draw.tensorboard import graph_definition, write_tensorboard_graph

__all__ = [
    "PAGE",
    "Drawing",
    "draw",
    "graph_definition",
    "method_page",
    "plan_outline",
    "plan_text",
    "write_tensorboard_graph",
]
