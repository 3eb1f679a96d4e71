"""Environments from specs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium

from rlgraph.core import SpecError, registry
from rlgraph.core.component.specifiable import call_checked
from rlgraph.environments.environment import Environment
from rlgraph.environments.gym_env import OpenAIGymEnv
from rlgraph.environments.sequential_vector_env import SequentialVectorEnv
from rlgraph.environments.vector_env import VectorEnv


def make_environment(spec: Any, *, path: str = "environment") -> Environment:
    """An environment from a spec.

    Args:
        spec: an `Environment`; a `gymnasium.Env`; a registered name or a gymnasium id such as ``"CartPole-v1"``; a
            mapping with ``type`` and constructor arguments; or a function that returns one of these.
        path: where the spec stands; named in errors.

    Raises:
        SpecError: unknown type, id or argument.
    """
    if isinstance(spec, Environment):
        return spec
    if isinstance(spec, gymnasium.Env):
        return OpenAIGymEnv(spec)
    known = registry("rlgraph.environments")
    if isinstance(spec, str):
        return make_environment({"type": spec}, path=path) if spec in known else OpenAIGymEnv(spec)
    if isinstance(spec, Mapping):
        if "type" not in spec:
            raise SpecError(
                f"{path}: a mapping needs 'type', given {dict(spec)!r}. Known: {', '.join(known.names())}."
            )
        arguments = {key: value for key, value in spec.items() if key != "type"}
        target = known.load(spec["type"], where=f"{path}.type")
        environment = call_checked(target, (), arguments, path, name=str(spec["type"]))
        if not isinstance(environment, Environment):
            raise SpecError(
                f"{path}.type: {spec['type']!r} gives a {type(environment).__name__}, no Environment"
            )
        return environment
    if callable(spec):
        return make_environment(spec(), path=path)
    raise SpecError(
        f"{path}: expected an environment, its name, a gymnasium id, or a mapping with 'type'; given {spec!r}"
    )


def is_instance(spec: Any) -> bool:
    """Whether `spec` is one environment, which cannot be made again and belongs to whoever gave it."""
    return isinstance(spec, Environment | gymnasium.Env)


def make_vector_env(spec: Any, num_envs: int = 1, *, validate: bool = False) -> VectorEnv:
    """`num_envs` environments behind one `reset` and one `step`.

    Args:
        spec: as `make_environment` takes it.
        num_envs: how many.
        validate: hold every state and action against its Space.

    Raises:
        SpecError: several are wanted from one instance.
    """
    return SequentialVectorEnv(make_environments(spec, num_envs), validate=validate)


def make_environments(spec: Any, number: int) -> list[Environment]:
    """`number` environments from one spec.

    Raises:
        SpecError: several are wanted from one instance.
    """
    if number < 1:
        raise SpecError(f"num_envs: expected an integer >= 1, given {number!r}")
    if is_instance(spec) and number > 1:
        raise SpecError(
            f"num_envs={number} needs a spec or a function that makes environments, given one instance"
        )
    return [make_environment(spec) for _ in range(number)]
