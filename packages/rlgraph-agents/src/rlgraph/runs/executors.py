"""Which worker trains: the one of this process, or an executor of `rlgraph.execution`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from rlgraph.agents.agent import Agent
from rlgraph.core import SpecError, registry
from rlgraph.core.errors import Fault
from rlgraph.core.specs.specifiable import check_arguments
from rlgraph.workers.single_threaded_worker import SingleThreadedWorker
from rlgraph.workers.worker import Worker

#: Argument of an executor that has another place in a run's document -> that place.
PLACES = MappingProxyType(
    {
        "agent": "agent",
        "agent_config": "agent",
        "env_spec": "environment",
        "environment_spec": "environment",
        "num_envs": "worker.num_envs",
        "vectorization": "worker.vectorization",
        "backend": "backend",
        "seed": "seed",
    }
)


def worker_class(spec: Any, agent: Mapping[str, Any]) -> tuple[type[Worker], dict[str, Any]]:
    """The class of the worker of a run, and its further arguments.

    Args:
        spec: `executor_spec` of a run: None, the name of an executor or an engine, or a mapping with one as ``type``.
        agent: the spec of the agent, whose algorithm says which executor suits it.

    Raises:
        SpecError: unknown executor, engine or option.
        PluginError: the executor or the engine is not installed.
    """
    if spec is None:
        return SingleThreadedWorker, {}
    engines, executors = registry("rlgraph.engines"), registry("rlgraph.executors")
    given = {"type": spec} if isinstance(spec, str) else spec
    if not isinstance(given, Mapping):
        raise SpecError(f"expected the name of an engine, or a mapping, given {spec!r}", path="executor_spec")
    options = {name: value for name, value in given.items() if name != "type"}
    name = given.get("type")
    if isinstance(name, str) and name not in executors:  # the short form names the engine
        options, name = {"engine": name, **options}, None
    if name is None:
        kind_of_agent: Any = Agent._lookup(agent.get("type"), "agent")
        name = kind_of_agent.algorithm_class.executor
    kind: type[Worker] = executors.load(name, where="executor_spec.type")
    misplaced = [
        Fault(f"expected in the run's {PLACES[option]!r}, given here: move it", f"executor_spec.{option}")
        for option in options
        if option in PLACES
    ]
    if misplaced:
        raise SpecError(*misplaced)
    check_arguments(kind, options, "executor_spec")
    engine = options.get("engine")
    engine = engine.get("type") if isinstance(engine, Mapping) else engine
    if isinstance(engine, str):
        engines.load(engine, where="executor_spec.engine")
    return kind, options
