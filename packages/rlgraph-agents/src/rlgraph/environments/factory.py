"""Environments from specs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

import gymnasium
from gymnasium.envs.registration import EnvSpec

from rlgraph.core import RLGraphError, SpecError, registry
from rlgraph.core.specs.imports import ImportPolicy, import_policy, using_import_policy
from rlgraph.core.specs.parameters import parameters_of
from rlgraph.core.specs.specifiable import call_checked
from rlgraph.environments.adapters.dm_env import DmEnv, is_dm_env
from rlgraph.environments.adapters.envpool_vector_env import EnvPoolVectorEnv
from rlgraph.environments.adapters.gym_env import OpenAIGymEnv
from rlgraph.environments.adapters.native_vector_env import NativeVectorEnv, vectorised_id
from rlgraph.environments.adapters.old_gym import explain_class
from rlgraph.environments.adapters.protocol_env import ProtocolEnv, missing_methods, resembles_environment
from rlgraph.environments.environment import Environment
from rlgraph.environments.errors import fault_of
from rlgraph.environments.interrupts import interruptible, raise_interruption
from rlgraph.environments.state_bounds import answers_validate
from rlgraph.environments.vector.process_vector_env import STEP_TIMEOUT, ProcessVectorEnv
from rlgraph.environments.vector.restarts import MAX_RESTARTS
from rlgraph.environments.vector.sequential_vector_env import SequentialVectorEnv, release
from rlgraph.environments.vector_env import VectorEnv
from rlgraph.spaces import Space, SpaceError

Vectorization: TypeAlias = Literal["auto", "sequential", "processes", "native", "envpool"]
VECTORIZATIONS = get_args(Vectorization)

GYMNASIUM_TYPES = ("openai_gym", "openai", "gym")
"""Names of the adapter for Gymnasium."""

NATIVE_FROM = 8
"""From this number on Gymnasium's vectorised classes are faster than a loop (CartPole: by a quarter)."""


@interruptible()
def make_environment(spec: Any, *, path: str = "environment") -> Environment:
    """An environment from a spec.

    Args:
        spec: an `Environment`; a `gymnasium.Env` or `EnvSpec`; any object with `state_space`, `action_space`,
            `reset`, `step` and `terminate` (`rlgraph.core.protocols.Environment`); a registered name, a gymnasium
            id such as ``"CartPole-v1"``, or a class, "module:Class"; a mapping with ``type`` (a registered name,
            "module:Class", or a class) and constructor arguments; or a class or function that returns one of these.
        path: place of the spec, for messages.

    Raises:
        SpecError: unknown type, id or argument; a module that may not be imported (`rlgraph.core.allow_imports`); an
            object that lacks parts of an environment (names all of them).
        EnvironmentFault: the code of the environment raises any other error; the error is its cause.
    """
    try:
        return _make_environment(spec, path)
    except (RLGraphError, SpaceError):
        raise
    except BaseException as error:
        raise_interruption(error)
        raise fault_of(error, path) from error


def _make_environment(spec: Any, path: str) -> Environment:
    if isinstance(spec, str):
        # "module:Class" is a class; Gymnasium's "module:id" has a version or a folder, which no class has.
        is_class = ":" in spec and spec.partition(":")[2].isidentifier()
        is_ours = is_class or spec in registry("rlgraph.environments")
        return _from_mapping({"type": spec}, path) if is_ours else OpenAIGymEnv(spec)
    if isinstance(spec, Mapping):
        return _from_mapping(spec, path)
    if isinstance(spec, EnvSpec):
        return OpenAIGymEnv(spec)
    if is_vector_instance(spec):
        raise SpecError(
            f"expected a single environment, given the vector environment {type(spec).__name__}", path=path
        )
    if is_instance(spec):
        return _from_instance(spec, path)
    if callable(spec):
        return make_environment(spec(), path=path)
    raise SpecError(
        f"expected an environment, its name, a gymnasium id, or a mapping with 'type'; given {spec!r}",
        path=path,
    )


def _from_mapping(spec: Mapping[str, Any], path: str) -> Environment:
    known = registry("rlgraph.environments")
    if "type" not in spec:
        raise SpecError(
            f"a mapping needs 'type', given {dict(spec)!r}. Known: {', '.join(known.names())}.", path=path
        )
    if is_envpool(spec):
        raise SpecError(
            "EnvPool makes several environments at once, and here single ones are needed; give the "
            "gymnasium id of the game",
            path=path,
        )
    kind = spec["type"]
    arguments = {key: value for key, value in spec.items() if key != "type"}
    if not isinstance(kind, str) and not callable(kind):
        raise SpecError(f"expected a name, a class or a function, given {kind!r}", path=f"{path}.type")
    target = kind
    if isinstance(kind, str):
        target = known.resolve(kind, _is_environment_class, "an environment's class", where=f"{path}.type")
    environment = call_checked(target, (), arguments, path, name=kind if isinstance(kind, str) else None)
    if not is_instance(environment):
        raise SpecError(f"{kind!r} gives a {type(environment).__name__}, no Environment", path=f"{path}.type")
    return _from_instance(environment, f"{path}.type")


def _is_environment_class(kind: type) -> bool:
    # `_from_instance` says what an object without `terminate`, such as one of the old gym, lacks.
    return issubclass(kind, Environment | gymnasium.Env) or set(missing_methods(kind)) <= {"terminate"}


def _from_instance(instance: Any, path: str) -> Environment:
    """`instance` itself if it is an `Environment`, else in the adapter for its class."""
    if isinstance(instance, Environment):
        return instance
    if _has_several_agents(instance):
        raise SpecError(
            f"expected an environment of one agent, given a {type(instance).__name__} of several: if one policy can "
            'act for all of them, write a vector environment with a row for each, as the page "Custom environments '
            'and vectors" shows',
            path=path,
        )
    if isinstance(instance, gymnasium.Env):
        return OpenAIGymEnv(instance)
    if is_dm_env(instance):
        return DmEnv(instance)
    if (fault := explain_class(instance)) is not None:
        raise SpecError(fault, path=path)
    try:
        return ProtocolEnv(instance)
    except SpecError as error:
        raise SpecError(str(error), path=path) from None


def _has_several_agents(instance: Any) -> bool:
    """Whether it is an environment as PettingZoo defines them, with agents by name and a method for their spaces."""
    named = any(hasattr(each, "possible_agents") for each in (instance, getattr(instance, "unwrapped", None)))
    return named or callable(getattr(instance, "observation_space", None))


def is_instance(spec: Any) -> bool:
    """Whether `spec` is an existing environment or vector environment.

    It cannot be made again, and belongs to the caller.
    """
    return isinstance(spec, Environment | gymnasium.Env) or resembles_environment(spec)


def is_vector_instance(spec: Any) -> bool:
    """Whether `spec` is an existing vector environment."""
    return isinstance(spec, VectorEnv | gymnasium.vector.VectorEnv)


def environment_spaces(spec: Any) -> tuple[Space, Space]:
    """The state Space and the action Space of an environment; one is made for this if `spec` is not an object.

    Raises:
        SpecError: see `make_environment`.
    """
    vector = is_vector_instance(spec) or is_envpool(spec)
    environment = make_vector_env(spec) if vector else make_environment(spec)
    if not is_instance(spec):
        release(environment, "environment")
    return environment.state_space, environment.action_space


@answers_validate
def make_vector_env(
    spec: Any,
    num_envs: int | None = None,
    vectorization: str = "auto",
    *,
    validate_states: bool = False,
    processes: int | None = None,
    step_timeout: float | None = STEP_TIMEOUT,
    max_restarts: int = MAX_RESTARTS,
) -> VectorEnv:
    """A vector environment of `num_envs` environments.

    Args:
        spec: as `make_environment` takes it; a `VectorEnv`; a `gymnasium.vector.VectorEnv`, EnvPool's among them; or
            ``{"type": "envpool", ...}``.
        num_envs: number of environments; None: that of a vector environment, else 1.
        vectorization: ``"sequential"``: one after another in this process; ``"processes"``: in worker processes, for
            steps that take longer than about 100 us; ``"native"``: by Gymnasium's vectorised class of the id;
            ``"envpool"``: by EnvPool, with the id as its task; ``"auto"``: native for a plain id that has such a
            class, with at least 8 environments; else sequential.
        validate_states: floats of states outside their bounds are errors, not warnings.
        processes: number of processes; None: the number of cores minus one.
        step_timeout: seconds after which a step in a process counts as hanging; None: no limit.
        max_restarts: maximum number of restarts of each environment after crashes.

    Raises:
        SpecError: one instance for several environments; a vectorization that does not support `spec`; a vector
            environment with another number of environments, or with options that are for environments made here.
    """
    if is_vector_instance(spec):
        given = {
            "vectorization": vectorization != "auto",
            "validate_states": validate_states,
            "processes": processes is not None,
        }
        return _existing_vector_env(spec, num_envs, [name for name, is_given in given.items() if is_given])
    num_envs = 1 if num_envs is None else num_envs
    if vectorization not in VECTORIZATIONS:
        raise SpecError(
            f"expected one of {', '.join(VECTORIZATIONS)}, given {vectorization!r}", path="vectorization"
        )
    if vectorization == "envpool" or (is_envpool(spec) and vectorization == "auto"):
        envpool = _make_envpool(spec, num_envs)
        envpool.validate_states = validate_states
        return envpool
    gym_id, arguments = _plain_id(spec)
    if vectorization == "native":
        if gym_id is None:
            raise SpecError(f"vectorization='native' takes a gymnasium id, given {spec!r}")
        native = NativeVectorEnv(gym_id, num_envs, **arguments)
        native.validate_states = validate_states
        return native
    wants_native = vectorization == "auto" and num_envs >= NATIVE_FROM and not validate_states
    if wants_native and gym_id is not None and not arguments and vectorised_id(gym_id):
        return NativeVectorEnv(gym_id, num_envs)
    if vectorization == "processes":
        return make_process_vector_env(
            spec,
            num_envs,
            processes=processes,
            validate_states=validate_states,
            step_timeout=step_timeout,
            max_restarts=max_restarts,
        )
    if is_instance(spec):
        return SequentialVectorEnv(make_environments(spec, num_envs), validate_states, max_restarts)
    if num_envs < 1:
        raise SpecError(f"expected an integer >= 1, given {num_envs!r}", path="num_envs")
    return SequentialVectorEnv([partial(make_environment, spec)] * num_envs, validate_states, max_restarts)


def _existing_vector_env(spec: Any, num_envs: int | None, options: list[str]) -> VectorEnv:
    """A vector environment that the caller made, with RLgraph's contract."""
    vector = spec if isinstance(spec, VectorEnv) else NativeVectorEnv(spec)
    if num_envs not in (None, vector.num_environments):
        raise SpecError(
            f"expected {vector.num_environments}, the number of environments of the {type(spec).__name__}, given "
            f"{num_envs}: leave it out",
            path="num_envs",
        )
    if options:
        raise SpecError(
            f"a {type(spec).__name__} exists already: leave it out, or give the id of its environments",
            path=options[0],
        )
    return vector


def make_process_vector_env(spec: Any, num_envs: int, **options: Any) -> ProcessVectorEnv:
    """Environments of `spec` in processes; `options` as of `ProcessVectorEnv`.

    Raises:
        SpecError: `spec` is an instance; see also `ProcessVectorEnv`.
    """
    if is_instance(spec):
        raise SpecError(
            "expected an id, a spec or a function, of which environments can be made in other processes; given one "
            f"environment, a {type(spec).__name__}",
            path="vectorization",
        )
    return ProcessVectorEnv(partial(_make_under, import_policy(), spec), num_envs, **options)


def _make_under(policy: ImportPolicy, spec: Any) -> Environment:
    """Make an environment in another process, under this process's import policy."""
    with using_import_policy(policy):
        return make_environment(spec)


def _plain_id(spec: Any) -> tuple[str | None, dict[str, Any]]:
    """The Gymnasium id of a spec and the arguments that are not defaults; the id is None for other specs."""
    known = registry("rlgraph.environments")
    if isinstance(spec, str):
        return (None if spec in known else spec), {}
    if isinstance(spec, Mapping) and spec.get("type") in GYMNASIUM_TYPES:
        arguments = {k: value for k, value in spec.items() if k != "type" and not _is_default(k, value)}
        gym_id = arguments.pop("gym_env", arguments.pop("env_id", None))
        return (gym_id if isinstance(gym_id, str) else None), arguments
    return None, {}


def _is_default(name: str, value: Any) -> bool:
    """Whether an argument of `OpenAIGymEnv` has its default, as a document writes it."""
    parameter = parameters_of(OpenAIGymEnv).named.get(name)
    written = tuple(value) if isinstance(value, list) else value
    return parameter is not None and written == parameter.default


def environment_settings(spec: Any) -> dict[str, Any] | None:
    """An environment's spec as a mapping with ``type``, the same for all aliases; None for objects and classes."""
    if isinstance(spec, str):
        known = spec in registry("rlgraph.environments")
        return {"type": spec} if known else {"type": "openai_gym", "gym_env": spec}
    if not isinstance(spec, Mapping):
        return None
    settings = dict(spec)
    if settings.get("type") in GYMNASIUM_TYPES:
        settings["type"] = "openai_gym"
        if "env_id" in settings:
            settings["gym_env"] = settings.pop("env_id")
    return settings


def is_envpool(spec: Any) -> bool:
    """Whether `spec` asks for EnvPool, which makes only vector environments."""
    return isinstance(spec, Mapping) and spec.get("type") == "envpool"


def _make_envpool(spec: Any, num_envs: int) -> VectorEnv:
    if isinstance(spec, str):
        return EnvPoolVectorEnv(spec, num_envs)
    if not isinstance(spec, Mapping) or "task_id" not in spec:
        raise SpecError(
            f"expected {{'type': 'envpool', 'task_id': ...}} or a task, given {spec!r}", path="envpool"
        )
    arguments = {key: value for key, value in spec.items() if key != "type"}
    return EnvPoolVectorEnv(num_environments=num_envs, **arguments)


def make_environments(spec: Any, number: int) -> list[Environment]:
    """`number` environments from one spec.

    Raises:
        SpecError: one instance for several environments.
    """
    if number < 1:
        raise SpecError(f"expected an integer >= 1, given {number!r}", path="num_envs")
    if is_instance(spec) and number > 1:
        raise SpecError(
            f"expected an id, a spec or a function, of which {number} environments can be made, or a vector "
            f"environment; given one environment, a {type(spec).__name__}",
            path="num_envs",
        )
    return [make_environment(spec) for _ in range(number)]
