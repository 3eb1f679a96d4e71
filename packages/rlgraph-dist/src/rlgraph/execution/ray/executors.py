"""The executors on Ray, by the names of RLgraph 0.5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.core import SpecError
from rlgraph.execution.executors import apex, impala, sync_batch
from rlgraph.execution.executors.executor import Executor
from rlgraph.execution.option_checks import given_once
from rlgraph.execution.ray.ray_spec import options_of


class _TakesRaySpec(Executor):
    """An executor whose options may be in ``execution_spec.ray_spec`` of the agent."""

    default_engine = "ray"

    def __init__(self, agent: Any = None, env_spec: Any = None, *, agent_config: Any = None, **options: Any):
        agent = given_once("agent", agent, "agent_config", agent_config)
        execution = agent.get("execution_spec") if isinstance(agent, Mapping) else None
        if isinstance(execution, Mapping) and "ray_spec" in execution:
            execution = dict(execution)
            translated = options_of(execution.pop("ray_spec"), type(self))
            if twice := sorted(translated.keys() & options.keys()):
                raise SpecError(
                    f"given here and in execution_spec.ray_spec: {', '.join(twice)}", path="options"
                )
            agent, options = {**agent, "execution_spec": execution}, {**options, **translated}
        super().__init__(agent, env_spec, **options)


class SyncBatchExecutor(_TakesRaySpec, sync_batch.SyncBatchExecutor):
    __doc__ = sync_batch.SyncBatchExecutor.__doc__


class ApexExecutor(_TakesRaySpec, apex.ApexExecutor):
    __doc__ = apex.ApexExecutor.__doc__


class ImpalaExecutor(_TakesRaySpec, impala.ImpalaExecutor):
    __doc__ = impala.ImpalaExecutor.__doc__
