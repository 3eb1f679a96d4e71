"""Execution on Ray. Importing this does not import Ray; starting actors does."""

from rlgraph.execution.ray.executors import ImpalaExecutor, SyncBatchExecutor

__all__ = ["ImpalaExecutor", "SyncBatchExecutor"]
