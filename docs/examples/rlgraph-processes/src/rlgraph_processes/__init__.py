"""Processes of one machine for RLgraph's actors, and batches that do not wait for slow ones."""

from rlgraph_processes.engine import ProcessEngine
from rlgraph_processes.executor import BackupExecutor

__all__ = ["BackupExecutor", "ProcessEngine"]
