"""Emission: a plan becomes readable Python source, registered with `linecache` so that tracebacks show it."""

from rlgraph.core.graph.emission.control_flow import EMPTY
from rlgraph.core.graph.emission.driver import emit_driver
from rlgraph.core.graph.emission.linking import Dialect, Linker, LoopShape, Tape, Transform
from rlgraph.core.graph.emission.segment import emit_segment
from rlgraph.core.graph.emission.source import SourceFunction, identifier, leaf_name

__all__ = [
    "EMPTY",
    "Dialect",
    "Linker",
    "LoopShape",
    "SourceFunction",
    "Tape",
    "Transform",
    "emit_driver",
    "emit_segment",
    "identifier",
    "leaf_name",
]
