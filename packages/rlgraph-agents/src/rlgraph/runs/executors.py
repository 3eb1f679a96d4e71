"""Which worker trains: the one of this process, or an executor of `rlgraph.execution`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from rlgraph.core import SpecError, registry
from rlgraph.core.errors import Fault, nearest
from rlgraph.core.specs.connections import check_connections
from rlgraph.core.specs.parameters import parameters_of
from rlgraph.core.specs.specifiable import check_arguments, check_values
from rlgraph.learning.base_agent import BaseAgent
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
                "validate_states",
                "in_graph",
            )
        },
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
        SpecError: unknown executor, engine or option, or a connection that data may not make.
        PluginError: the executor or the engine is not installed.
    """
    if spec is None:
        return SingleThreadedWorker, {}
    executors, engines = registry("rlgraph.executors"), registry("rlgraph.engines")
    given = {"type": spec} if isinstance(spec, str) else spec
    if not isinstance(given, Mapping):
        raise SpecError(
            f"expected the name of an executor or an engine, or a mapping, given {spec!r}",
            path="executor_spec",
        )
    options = {name: value for name, value in given.items() if name != "type"}
    name = given.get("type")
    if not isinstance(name, str | None):
        raise SpecError(f"expected the name of an executor, given {name!r}", path="executor_spec.type")
    if name is not None and name not in executors and name not in executors.not_installed():
        if name not in engines and name not in engines.not_installed():
            hint = nearest(name, {*executors.names(), *engines.names()})
            raise SpecError(f"unknown executor or engine {name!r}. {hint}", path="executor_spec")
        options, name = {"engine": name, **options}, None  # the short form names the engine
    if name is None:
        kind_of_agent: Any = BaseAgent._lookup(agent.get("type"), "agent")
        name = kind_of_agent.algorithm_class.executor
    kind: type[Worker] = executors.load(name, where="executor_spec.type")
    if faults := [*_name_faults(kind, options)]:
        raise SpecError(*faults)
    check_values(kind, options, "executor_spec")
    check_connections(
        kind, {name: value for name, value in options.items() if name != "engine"}, "executor_spec"
    )
    if options.get("engine") is not None:
        engine_class(options["engine"], "executor_spec.engine")
    return kind, options


@contextmanager
def options_placed(options: Collection[str]) -> Iterator[None]:
    """Context in which faults of an executor's options get their places in a run's document."""
    try:
        yield
    except SpecError as error:
        error.args = tuple(
            replace(fault, path=f"executor_spec.{fault.path}")
            if fault.path.partition(".")[0] in options
            else fault
            for fault in error.faults
        )
        raise


def _name_faults(kind: type[Worker], options: Iterable[str]) -> Iterator[Fault]:
    """Faults of options that the executor lacks, or that are written elsewhere in a run's document."""
    parameters = parameters_of(kind)
    known = parameters.named.keys() - ELSEWHERE.keys()
    for option in options:
        if option in ELSEWHERE:
            text = f"expected in the run's {ELSEWHERE[option]!r}, given here: move it"
        elif option in known or parameters.is_open:
            continue
        else:
            text = f"{kind.__name__} has no such key. {nearest(option, known)}"
        yield Fault(text, f"executor_spec.{option}")


def engine_class(spec: Any, where: str = "engine") -> tuple[Callable[..., Any], dict[str, Any]]:
    """The class of an engine and its options, from its name or its spec; nothing is started.

    Raises:
        SpecError: unknown engine or option, or a connection that data may not make.
        PluginError: the engine is not installed.
    """
    given = {"type": spec} if isinstance(spec, str) else spec
    if not isinstance(given, Mapping) or not isinstance(given.get("type"), str):
        raise SpecError(
            f"expected the name of an engine, or a mapping with 'type', given {spec!r}", path=where
        )
    kind = registry("rlgraph.engines").load(given["type"], where=where)
    options = {name: value for name, value in given.items() if name != "type"}
    check_arguments(kind, options, where)
    check_values(kind, options, where)
    check_connections(kind, options, where)
    return kind, options
