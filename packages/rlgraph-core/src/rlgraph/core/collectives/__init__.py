"""Groups of learners that add arrays up: what providers implement, how learners meet, and a group of threads."""

from rlgraph.core.collectives.collective import Collective
from rlgraph.core.collectives.group_collective import GroupCollective
from rlgraph.core.collectives.memory import memory_group

__all__ = ["Collective", "GroupCollective", "memory_group"]
