"""The executors on Ray, by the names of RLgraph 0.5."""

from __future__ import annotations

from rlgraph.execution import apex, impala, sync_batch


class SyncBatchExecutor(sync_batch.SyncBatchExecutor):
    __doc__ = sync_batch.SyncBatchExecutor.__doc__
    default_engine = "ray"


class ApexExecutor(apex.ApexExecutor):
    __doc__ = apex.ApexExecutor.__doc__
    default_engine = "ray"


class ImpalaExecutor(impala.ImpalaExecutor):
    __doc__ = impala.ImpalaExecutor.__doc__
    default_engine = "ray"
