"""Which worker trains: the one of this process, or an executor of `rlgraph.execution`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.core import SpecError, registry
from rlgraph.core.specs.specifiable import check_arguments
from rlgraph.workers.single_threaded_worker import SingleThreadedWorker
from rlgraph.workers.worker import Worker

#: The executor where a spec names none.
DEFAULT = "sync_batch"
#: Arguments of executors that are said elsewhere in a run's document.
SAID_ELSEWHERE = frozenset(
    {"agent", "agent_config", "env_spec", "environment_spec", "num_envs", "vectorization", "backend", "seed"}
)


def worker_class(spec: Any) -> tuple[type[Worker], dict[str, Any]]:
    """The class of the worker of a run, and its further arguments.

    Args:
        spec: `executor_spec` of a run: None, the name of an engine or an executor, or a mapping.

    Raises:
        SpecError: unknown executor or option.
        PluginError: it is not installed.
    """
    if spec is None:
        return SingleThreadedWorker, {}
    engines, executors = registry("rlgraph.engines"), registry("rlgraph.executors")
    if isinstance(spec, str):
        spec = {"type": spec} if spec in executors else {"engine": spec}
    if not isinstance(spec, Mapping):
        raise SpecError(f"expected the name of an engine, or a mapping, given {spec!r}", path="executor_spec")
    options = {name: value for name, value in spec.items() if name != "type"}
    kind: type[Worker] = executors.load(spec.get("type", DEFAULT), where="executor_spec.type")
    if said := SAID_ELSEWHERE & options.keys():
        raise SpecError(
            f"say it in the run, the agent or the worker: {', '.join(sorted(said))}", path="executor_spec"
        )
    check_arguments(kind, options, "executor_spec")
    engine = options.get("engine")
    name = engine.get("type") if isinstance(engine, Mapping) else engine
    if isinstance(name, str):
        engines.load(name, where="executor_spec.engine")
    return kind, options
