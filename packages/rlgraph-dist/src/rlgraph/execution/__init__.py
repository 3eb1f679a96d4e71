"""Distributed execution: the same agents in many processes."""

from rlgraph.execution.actors import Actors, TooManyRestarts
from rlgraph.execution.apex import ApexExecutor
from rlgraph.execution.engine import ActorDied, ActorFailed, ActorFault, ActorMisconfigured, Engine, failure
from rlgraph.execution.executor import Executor
from rlgraph.execution.host import Host, Hosted, packed
from rlgraph.execution.impala import ImpalaExecutor
from rlgraph.execution.in_process import InProcessEngine
from rlgraph.execution.monitor import Monitor
from rlgraph.execution.requests import Answer, Calls, Requests
from rlgraph.execution.sampling import Sample
from rlgraph.execution.sync_batch import SyncBatchExecutor

__all__ = [
    "ActorDied",
    "ActorFailed",
    "ActorFault",
    "ActorMisconfigured",
    "Actors",
    "Answer",
    "ApexExecutor",
    "Calls",
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
