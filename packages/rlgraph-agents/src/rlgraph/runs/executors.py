"""Which worker trains: the one of this process, or an executor of `rlgraph.execution`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from rlgraph.agents.agent import Agent
from rlgraph.core import SpecError, registry
from rlgraph.core.errors import Fault
from rlgraph.core.specs.specifiable import check_arguments, check_values
from rlgraph.workers.single_threaded_worker import SingleThreadedWorker
from rlgraph.workers.worker import Worker

#: Argument of the worker -> its section and key in a run's document.
PLACES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        **{
            name: ("worker", name)
            for name in (
                "num_envs",
                "frameskip",
                "max_timesteps_per_episode",
                "vectorization",
                "processes",
                "step_timeout",
                "max_restarts",
            )
        },
        "validate": ("worker", "validate_states"),
        "report_interval": ("logging", "report_interval"),
        "evaluation_interval": ("evaluation", "interval"),
        "evaluation_episodes": ("evaluation", "episodes"),
        "checkpoint_interval": ("checkpoints", "interval"),
    }
)
#: Argument of an executor that is written elsewhere in a run's document -> where.
ELSEWHERE = MappingProxyType(
    {
        "agent": "agent",
        "agent_config": "agent",
        "env_spec": "environment",
        "environment_spec": "environment",
        "backend": "backend",
        "seed": "seed",
        "store_checkpoint": "checkpoints",
        **{name: f"{section}.{key}" for name, (section, key) in PLACES.items()},
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
    executors = registry("rlgraph.executors")
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
        Fault(f"expected in the run's {ELSEWHERE[option]!r}, given here: move it", f"executor_spec.{option}")
        for option in options
        if option in ELSEWHERE
    ]
    if misplaced:
        raise SpecError(*misplaced)
    check_arguments(kind, options, "executor_spec")
    check_values(kind, options, "executor_spec")
    if options.get("engine") is not None:
        _check_engine(options["engine"])
    return kind, options


def _check_engine(spec: Any) -> None:
    """Check the spec of an engine without making it."""
    where = "executor_spec.engine"
    given = {"type": spec} if isinstance(spec, str) else spec
    if not isinstance(given, Mapping) or not isinstance(given.get("type"), str):
        raise SpecError(
            f"expected the name of an engine, or a mapping with 'type', given {spec!r}", path=where
        )
    kind = registry("rlgraph.engines").load(given["type"], where=where)
    options = {name: value for name, value in given.items() if name != "type"}
    check_arguments(kind, options, where)
    check_values(kind, options, where)
