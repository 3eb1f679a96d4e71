"""Distributed execution: the same agents in many processes."""

from rlgraph.execution.actors import TooManyRestarts
from rlgraph.execution.apex import ApexExecutor
from rlgraph.execution.engine import ActorDied, ActorFailed, ActorFault, Engine
from rlgraph.execution.impala import ImpalaExecutor
from rlgraph.execution.in_process import InProcessEngine
from rlgraph.execution.sync_batch import SyncBatchExecutor

__all__ = [
    "ActorDied",
    "ActorFailed",
    "ActorFault",
    "ApexExecutor",
    "Engine",
    "ImpalaExecutor",
    "InProcessEngine",
    "SyncBatchExecutor",
    "TooManyRestarts",
]
