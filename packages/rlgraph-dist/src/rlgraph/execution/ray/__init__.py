"""Execution on Ray. Importing this imports no Ray; making an executor does."""

from rlgraph.execution.ray.executors import SyncBatchExecutor

__all__ = ["SyncBatchExecutor"]
