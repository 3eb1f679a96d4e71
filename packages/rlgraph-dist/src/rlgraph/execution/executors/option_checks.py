"""Checks of what executors are given, before anything starts."""

from __future__ import annotations

from typing import Any

from rlgraph.core import SpecError
from rlgraph.environments.factory import is_instance, is_vector_instance, make_vector_env
from rlgraph.execution.remote.host import packed
from rlgraph.learning.base_agent import BaseAgent
from rlgraph.workers.compatibility import check_fits


def given_once(name: str, value: Any, other_name: str, other: Any) -> Any:
    """The one of two values that is given.

    Raises:
        SpecError: both are.
    """
    if value is not None and other is not None:
        raise SpecError(f"expected {name!r} or {other_name!r}, given both: leave one out", path=other_name)
    return other if value is None else value


def check_is_spec(env_spec: Any) -> None:
    """Check that other processes can make the environment."""
    if is_instance(env_spec) or is_vector_instance(env_spec):
        raise SpecError(
            "expected a spec or an importable function, of which every actor makes its environments, given one "
            f"{type(env_spec).__name__}",
            path="env_spec",
        )
    packed(env_spec, "env_spec")


def check_made(agent: BaseAgent, env_spec: Any, **options: Any) -> None:
    """Check that an agent which exists fits an environment, and that no options are given to make it."""
    for name, value in options.items():
        if value is not None:
            raise SpecError(
                f"expected None, since the agent exists, given {value!r}: give it to Agent.from_spec",
                path=name,
            )
    environment = make_vector_env(env_spec)
    try:
        check_fits(agent, environment)
    finally:
        environment.terminate()
