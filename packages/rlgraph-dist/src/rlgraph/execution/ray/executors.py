"""The executors on Ray, by the names of RLgraph 0.5."""

from __future__ import annotations

from typing import Any

from rlgraph.execution.executors import apex, impala, sync_batch
from rlgraph.execution.executors.engine_spec import TakesEngineSpec
from rlgraph.execution.ray.ray_spec import options_of


class TakesRaySpec(TakesEngineSpec):
    """An executor whose options may be in ``execution_spec.ray_spec`` of the agent."""

    default_engine = "ray"
    spec_key = "ray_spec"

    def options_in(self, spec: Any, execution: dict[str, Any]) -> dict[str, Any]:
        return options_of(spec, type(self))


SyncBatchExecutor = TakesRaySpec.of(sync_batch.SyncBatchExecutor)
ApexExecutor = TakesRaySpec.of(apex.ApexExecutor)
ImpalaExecutor = TakesRaySpec.of(impala.ImpalaExecutor)
