"""Execution on Ray. Importing this imports no Ray; making an executor does."""

from rlgraph.execution.ray.executors import ApexExecutor, ImpalaExecutor, SyncBatchExecutor

__all__ = ["ApexExecutor", "ImpalaExecutor", "SyncBatchExecutor"]
