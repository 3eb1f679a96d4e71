"""The executors on distributed TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.core import SpecError
from rlgraph.execution.distributed_tf.cluster import WORKER_JOBS, Cluster
from rlgraph.execution.distributed_tf.worker import serve
from rlgraph.execution.executors import apex, impala, sync_batch
from rlgraph.execution.executors.engine_spec import TakesEngineSpec
from rlgraph.workers.run_schedule import RunSchedule

_PATH = "agent_config.execution_spec.distributed_spec"


class TakesDistributedSpec(TakesEngineSpec):
    """An executor whose cluster and task may be in ``execution_spec.distributed_spec`` of the agent.

    The same program runs on every machine: where the task is a worker's, training serves the learner.

    Args:
        allow_network: see `rlgraph.execution.distributed_tf.engine.DistributedTFEngine`.
    """

    spec_key = "distributed_spec"
    #: Cluster and index of a worker; None: the learner.
    _worker: tuple[Cluster, int] | None = None

    def __init__(self, *args: Any, allow_network: bool = False, **options: Any):
        if allow_network and "engine" in options:
            raise SpecError("expected among the options of the engine, given beside it", path="allow_network")
        self.default_engine = {"type": "distributed_tf", "allow_network": allow_network}
        self._allow_network = allow_network
        super().__init__(*args, **options)

    def options_in(self, spec: Any, execution: dict[str, Any]) -> dict[str, Any]:
        execution.pop("mode", None)
        cluster, job, index = task_of(spec)
        if job != "learner":
            self._worker = cluster, index
        allowed = self._allow_network or self._worker is not None  # a worker starts no server
        return {"engine": {"type": "distributed_tf", "cluster": cluster, "allow_network": allowed}}

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


SyncBatchExecutor = TakesDistributedSpec.of(sync_batch.SyncBatchExecutor)
ApexExecutor = TakesDistributedSpec.of(apex.ApexExecutor)
ImpalaExecutor = TakesDistributedSpec.of(impala.ImpalaExecutor)
