"""A run: one document that describes it, and the folder in which everything it leaves behind can be trusted."""

from rlgraph.runs.run_folder import RunFolder
from rlgraph.runs.run_spec import EvaluationSpec, LoggingSpec, RunSpec, WorkerSpec
from rlgraph.runs.training import RunSummary, train

__all__ = [
    "EvaluationSpec",
    "LoggingSpec",
    "RunFolder",
    "RunSpec",
    "RunSummary",
    "WorkerSpec",
    "train",
]
