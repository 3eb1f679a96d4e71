"""Execution on distributed TensorFlow. Importing this does not import TensorFlow; starting actors does."""

from rlgraph.execution.distributed_tf.executors import ApexExecutor, ImpalaExecutor, SyncBatchExecutor
from rlgraph.execution.distributed_tf.worker import serve

__all__ = ["ApexExecutor", "ImpalaExecutor", "SyncBatchExecutor", "serve"]
