"""Drawings of component graphs and readable pages of plans. SVG and text need no dependency; PNG needs ``[draw]``."""

from rlgraph.core.draw.drawing import Drawing, draw
from rlgraph.core.draw.method_page import method_page
from rlgraph.core.draw.plan_text import plan_text
from rlgraph.core.draw.tensorboard import graph_definition, write_tensorboard_graph

__all__ = ["Drawing", "draw", "graph_definition", "method_page", "plan_text", "write_tensorboard_graph"]
