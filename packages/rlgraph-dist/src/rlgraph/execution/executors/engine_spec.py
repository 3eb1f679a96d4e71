"""Executors on one engine, whose options may be in the agent's ``execution_spec``, as RLgraph 0.5 has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from rlgraph.core import SpecError
from rlgraph.execution.executors.executor import Executor
from rlgraph.execution.executors.option_checks import given_once

E = TypeVar("E", bound=Executor)


class TakesEngineSpec(Executor):
    """The base of executors on one engine.

    Attributes:
        spec_key: the key of ``execution_spec`` that holds options.
    """

    spec_key: ClassVar[str]

    def __init__(self, agent: Any = None, env_spec: Any = None, *, agent_config: Any = None, **options: Any):
        agent = given_once("agent", agent, "agent_config", agent_config)
        execution = agent.get("execution_spec") if isinstance(agent, Mapping) else None
        if isinstance(execution, Mapping) and self.spec_key in execution:
            rest = dict(execution)
            translated = self.options_in(rest.pop(self.spec_key), rest)
            if twice := sorted(translated.keys() & options.keys()):
                raise SpecError(
                    f"given here and in execution_spec.{self.spec_key}: {', '.join(twice)}",
                    path=", ".join(twice),
                )
            agent, options = {**agent, "execution_spec": rest}, {**options, **translated}
        super().__init__(agent, env_spec, **options)

    def options_in(self, spec: Any, execution: dict[str, Any]) -> dict[str, Any]:
        """The options of the executor in `spec`. Removes keys that are for the engine from `execution`.

        Raises:
            SpecError: something is wrong in `spec`.
        """
        raise NotImplementedError

    @classmethod
    def of(cls, executor: type[E]) -> type[E]:
        """The class `executor` on this engine, by the same name."""
        return type(
            executor.__name__, (cls, executor), {"__doc__": executor.__doc__, "__module__": cls.__module__}
        )
