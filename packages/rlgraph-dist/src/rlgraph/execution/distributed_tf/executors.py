"""The executors on distributed TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.core import SpecError
from rlgraph.execution.distributed_tf.cluster import WORKER_JOBS, Cluster
from rlgraph.execution.distributed_tf.worker import serve
from rlgraph.execution.executors import apex, impala, sync_batch
from rlgraph.execution.executors.executor import Executor
from rlgraph.execution.option_checks import given_once
from rlgraph.workers.run_schedule import RunSchedule

_PATH = "agent_config.execution_spec.distributed_spec"


class _TakesDistributedSpec(Executor):
    """An executor whose cluster and task may be in ``execution_spec.distributed_spec`` of the agent.

    The same program runs on every machine: where the task is a worker's, training serves the learner.

    Args:
        allow_network: see `rlgraph.execution.distributed_tf.engine.DistributedTFEngine`.
    """

    default_engine = "distributed_tf"

    def __init__(
        self,
        agent: Any = None,
        env_spec: Any = None,
        *,
        agent_config: Any = None,
        allow_network: bool = False,
        **options: Any,
    ):
        agent = given_once("agent", agent, "agent_config", agent_config)
        #: Cluster and index of a worker; None: the learner.
        self._worker: tuple[Cluster, int] | None = None
        execution = agent.get("execution_spec") if isinstance(agent, Mapping) else None
        if isinstance(execution, Mapping) and "distributed_spec" in execution:
            if "engine" in options:
                raise SpecError("given here and in execution_spec.distributed_spec", path="engine")
            execution = dict(execution)
            execution.pop("mode", None)
            cluster, job, index = task_of(execution.pop("distributed_spec"))
            if job != "learner":
                self._worker = cluster, index
            # A worker starts no server.
            allowed = allow_network or self._worker is not None
            options["engine"] = {"type": "distributed_tf", "cluster": cluster, "allow_network": allowed}
            agent = {**agent, "execution_spec": execution}
        elif allow_network:
            if "engine" in options:
                raise SpecError(
                    "expected among the options of the engine, given beside it", path="allow_network"
                )
            options["engine"] = {"type": "distributed_tf", "allow_network": True}
        super().__init__(agent, env_spec, **options)

    def _run(self, schedule: RunSchedule, use_exploration: bool) -> None:
        if self._worker is None:
            return super()._run(schedule, use_exploration)
        if self.folder is not None:
            raise SpecError(
                "a worker records no run: start it by python -m rlgraph.execution.distributed_tf", path=_PATH
            )
        return serve(*self._worker)


def task_of(spec: Any) -> tuple[Cluster, str, int]:
    """Cluster, job and index of a `distributed_spec`.

    Raises:
        SpecError: it is something else.
    """
    known = ("cluster_spec", "job", "task_index", "protocol")
    if not isinstance(spec, Mapping) or "cluster_spec" not in spec or (spec.keys() - set(known)):
        raise SpecError(
            f"expected a mapping with cluster_spec, job and task_index, given {spec!r}", path=_PATH
        )
    if spec.get("protocol", "grpc") not in (None, "grpc"):
        raise SpecError(f"expected 'grpc', given {spec['protocol']!r}", path=f"{_PATH}.protocol")
    cluster = Cluster.from_spec(spec["cluster_spec"], f"{_PATH}.cluster_spec")
    job, index = spec.get("job", "learner"), spec.get("task_index", 0)
    if job not in ("learner", *WORKER_JOBS):
        raise SpecError(f"expected 'learner' or {cluster.job!r}, given {job!r}", path=f"{_PATH}.job")
    if job != "learner":
        cluster.worker(index, f"{_PATH}.task_index")
    return cluster, job, index


class SyncBatchExecutor(_TakesDistributedSpec, sync_batch.SyncBatchExecutor):
    __doc__ = sync_batch.SyncBatchExecutor.__doc__


class ApexExecutor(_TakesDistributedSpec, apex.ApexExecutor):
    __doc__ = apex.ApexExecutor.__doc__


class ImpalaExecutor(_TakesDistributedSpec, impala.ImpalaExecutor):
    __doc__ = impala.ImpalaExecutor.__doc__
