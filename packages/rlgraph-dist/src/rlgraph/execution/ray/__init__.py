"""Execution on Ray. Importing this does not import Ray; starting actors does."""

from rlgraph.execution.ray.executors import ApexExecutor, ImpalaExecutor, SyncBatchExecutor

__all__ = ["ApexExecutor", "ImpalaExecutor", "SyncBatchExecutor"]
