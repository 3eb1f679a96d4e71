"""Environments from specs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec

from rlgraph.core import SpecError, registry
from rlgraph.core.component.specifiable import check_arguments
from rlgraph.core.registry import import_object
from rlgraph.environments.environment import Environment
from rlgraph.environments.gym_env import OpenAIGymEnv
from rlgraph.environments.protocol_env import ProtocolEnv, resembles_environment
from rlgraph.environments.sequential_vector_env import SequentialVectorEnv
from rlgraph.environments.vector_env import VectorEnv


def make_environment(spec: Any, *, path: str = "environment") -> Environment:
    """An environment from a spec.

    Args:
        spec: an `Environment`; a `gymnasium.Env` or `EnvSpec`; any object with `state_space`, `action_space`,
            `reset`, `step` and `terminate` (`rlgraph.core.protocols.Environment`); a registered name or a gymnasium
            id such as ``"CartPole-v1"``; a mapping with ``type`` (a registered name, "module:Class", or a class) and
            constructor arguments; or a class or function that returns one of these.
        path: where the spec stands; named in errors.

    Raises:
        SpecError: unknown type, id or argument; an object that lacks parts of an environment, with all of them.
    """
    if isinstance(spec, str):
        known = registry("rlgraph.environments")
        return make_environment({"type": spec}, path=path) if spec in known else OpenAIGymEnv(spec)
    if isinstance(spec, Mapping):
        return _from_mapping(spec, path)
    if isinstance(spec, EnvSpec):
        return OpenAIGymEnv(spec)
    if is_instance(spec):
        return _from_instance(spec, path)
    if callable(spec):
        return make_environment(spec(), path=path)
    raise SpecError(
        f"{path}: expected an environment, its name, a gymnasium id, or a mapping with 'type'; given {spec!r}"
    )


def _from_mapping(spec: Mapping[str, Any], path: str) -> Environment:
    known = registry("rlgraph.environments")
    if "type" not in spec:
        raise SpecError(
            f"{path}: a mapping needs 'type', given {dict(spec)!r}. Known: {', '.join(known.names())}."
        )
    kind = spec["type"]
    arguments = {key: value for key, value in spec.items() if key != "type"}
    if isinstance(kind, str) and kind not in known and (":" in kind or "." in kind):
        target = import_object(kind, where=f"{path}.type")
    else:
        target = kind if callable(kind) else known.load(kind, where=f"{path}.type")
    check_arguments(target, arguments, path)
    environment = target(**arguments)
    if not is_instance(environment):
        raise SpecError(f"{path}.type: {kind!r} gives a {type(environment).__name__}, no Environment")
    return _from_instance(environment, f"{path}.type")


def _from_instance(instance: Any, path: str) -> Environment:
    """An environment as it is, one of Gymnasium or of another class in its adapter."""
    if isinstance(instance, Environment):
        return instance
    if isinstance(instance, gymnasium.Env):
        return OpenAIGymEnv(instance)
    try:
        return ProtocolEnv(instance)
    except SpecError as error:
        raise SpecError(f"{path}: {error}") from None


def is_instance(spec: Any) -> bool:
    """Whether `spec` is one environment, which cannot be made again and belongs to whoever gave it."""
    return isinstance(spec, Environment | gymnasium.Env) or resembles_environment(spec)


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
