"""Runs: train, resume, fork, evaluate and compare agents from documents, with results in run folders."""

from rlgraph.runs.equality import run_differences
from rlgraph.runs.errors import RunFolderError, RunFolderWarning, StorageError
from rlgraph.runs.forking import fork
from rlgraph.runs.resuming import resume
from rlgraph.runs.run_folder import RunFolder
from rlgraph.runs.run_spec import (
    CheckpointsSpec,
    DataSpec,
    EvaluationSpec,
    LoggingSpec,
    RunSpec,
    StopSpec,
    WandbSpec,
    WorkerSpec,
)
from rlgraph.runs.training import RunSummary, train

__all__ = [
    "CheckpointsSpec",
    "DataSpec",
    "EvaluationSpec",
    "LoggingSpec",
    "RunFolder",
    "RunFolderError",
    "RunFolderWarning",
    "RunSpec",
    "RunSummary",
    "StopSpec",
    "StorageError",
    "WandbSpec",
    "WorkerSpec",
    "fork",
    "resume",
    "run_differences",
    "train",
]
