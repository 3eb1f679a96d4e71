"""Drawings of component graphs and readable pages of plans. SVG and text need no dependency; PNG needs ``[draw]``."""

from rlgraph.core.draw.drawing import Drawing, draw
from rlgraph.core.draw.plan_text import plan_text

__all__ = ["Drawing", "draw", "plan_text"]
