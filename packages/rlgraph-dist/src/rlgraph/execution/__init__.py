"""Distributed execution: the same agents in many processes."""

from rlgraph.core.moved_modules import forward_modules
from rlgraph.execution.engine import (
    ActorDied,
    ActorFailed,
    ActorFault,
    ActorMisconfigured,
    ClusterLost,
    Engine,
    failure,
)
from rlgraph.execution.executors.apex import ApexExecutor
from rlgraph.execution.executors.executor import Executor
from rlgraph.execution.executors.impala import ImpalaExecutor
from rlgraph.execution.executors.monitor import Monitor
from rlgraph.execution.executors.sync_batch import SyncBatchExecutor
from rlgraph.execution.in_process import InProcessEngine
from rlgraph.execution.remote.actors import Actors, TooManyRestarts
from rlgraph.execution.remote.host import Host, Hosted, packed
from rlgraph.execution.remote.requests import Answer, Calls, Requests
from rlgraph.execution.remote.sampling import Sample

forward_modules(__name__, "rlgraph.execution.executors", "rlgraph.execution.remote")

__all__ = [
    "ActorDied",
    "ActorFailed",
    "ActorFault",
    "ActorMisconfigured",
    "Actors",
    "Answer",
    "ApexExecutor",
    "Calls",
    "ClusterLost",
    "Engine",
    "Executor",
    "Host",
    "Hosted",
    "ImpalaExecutor",
    "InProcessEngine",
    "Monitor",
    "Requests",
    "Sample",
    "SyncBatchExecutor",
    "TooManyRestarts",
    "failure",
    "packed",
]
