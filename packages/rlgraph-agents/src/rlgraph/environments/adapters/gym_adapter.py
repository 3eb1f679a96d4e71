"""Which environments are Gymnasium's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec

from rlgraph.core import SpecError, registry
from rlgraph.core.specs.parameters import parameters_of
from rlgraph.environments.adapter import EnvironmentAdapter
from rlgraph.environments.adapters.gym_env import OpenAIGymEnv
from rlgraph.environments.adapters.gym_factory import spec_of
from rlgraph.environments.adapters.native_vector_env import NativeVectorEnv, vectorised_id
from rlgraph.environments.adapters.protocol_env import check_one_agent
from rlgraph.environments.environment import Environment
from rlgraph.environments.vector_env import VectorEnv

NAMES = ("openai_gym", "openai", "gym")
"""Registered names of `OpenAIGymEnv`."""

NATIVE_FROM = 8
"""From this number on Gymnasium's vectorised classes are faster than a loop (CartPole: by a quarter)."""


class GymnasiumAdapter(EnvironmentAdapter):
    """Ids, an `EnvSpec`, environments and vector environments of Gymnasium; mappings of `OpenAIGymEnv`."""

    order = 10
    vectorization = "native"

    def understands(self, spec: Any) -> bool:
        """Every text can be an id, which a package registers as soon as it is imported."""
        if isinstance(spec, Mapping):
            return spec.get("type") in NAMES
        return isinstance(spec, str | EnvSpec) or self.is_instance(spec)

    def is_instance(self, spec: Any) -> bool:
        return isinstance(spec, gymnasium.Env | gymnasium.vector.VectorEnv)

    def is_vector(self, spec: Any) -> bool:
        return isinstance(spec, gymnasium.vector.VectorEnv)

    def check(self, spec: Any, path: str) -> None:
        gym_id = (self.settings(spec) or {}).get("gym_env")
        if isinstance(gym_id, str):
            spec_of(gym_id, path)

    def make(self, spec: Any, path: str) -> Environment:
        if self.is_instance(spec):
            check_one_agent(spec, path)
        return OpenAIGymEnv(spec)

    def prefers_vector(self, spec: Any, num_envs: int) -> bool:
        gym_id, arguments = _plain_id(spec)
        return num_envs >= NATIVE_FROM and gym_id is not None and not arguments and vectorised_id(gym_id)

    def make_vector(self, spec: Any, num_envs: int = 1) -> VectorEnv:
        if self.is_vector(spec):
            return NativeVectorEnv(spec)
        gym_id, arguments = _plain_id(spec)
        if gym_id is None:
            raise SpecError(f"vectorization='native' takes a gymnasium id, given {spec!r}")
        return NativeVectorEnv(gym_id, num_envs, **arguments)

    def settings(self, spec: Any) -> dict[str, Any] | None:
        if isinstance(spec, str):
            return {"type": "openai_gym", "gym_env": spec}
        if not isinstance(spec, Mapping):
            return None
        settings = {**spec, "type": "openai_gym"}
        if "env_id" in settings:
            settings["gym_env"] = settings.pop("env_id")
        return settings


def _plain_id(spec: Any) -> tuple[str | None, dict[str, Any]]:
    """The Gymnasium id of a spec and the arguments that are not defaults; the id is None for other specs."""
    if isinstance(spec, str):
        return (None if spec in registry("rlgraph.environments") else spec), {}
    if isinstance(spec, Mapping) and spec.get("type") in NAMES:
        arguments = {k: value for k, value in spec.items() if k != "type" and not _is_default(k, value)}
        gym_id = arguments.pop("gym_env", arguments.pop("env_id", None))
        return (gym_id if isinstance(gym_id, str) else None), arguments
    return None, {}


def _is_default(name: str, value: Any) -> bool:
    """Whether an argument of `OpenAIGymEnv` has its default, as a document writes it."""
    parameter = parameters_of(OpenAIGymEnv).named.get(name)
    written = tuple(value) if isinstance(value, list) else value
    return parameter is not None and written == parameter.default
