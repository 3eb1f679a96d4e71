"""Environments from specs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from rlgraph.core import RLGraphError, SpecError, registry
from rlgraph.core.specs.policy import SpecPolicy, spec_policy, using_spec_policy
from rlgraph.core.specs.specifiable import call_checked
from rlgraph.environments.adapter import adapter_of, adapters
from rlgraph.environments.closing import release
from rlgraph.environments.data_paths import check_paths
from rlgraph.environments.environment import Environment, makers, resembles_environment
from rlgraph.environments.errors import fault_of
from rlgraph.environments.interrupts import interruptible, raise_interruption
from rlgraph.environments.state_bounds import answers_validate
from rlgraph.environments.vector.process_vector_env import STEP_TIMEOUT, ProcessVectorEnv
from rlgraph.environments.vector.restarts import MAX_RESTARTS
from rlgraph.environments.vector.sequential_vector_env import SequentialVectorEnv
from rlgraph.environments.vector_env import VectorEnv
from rlgraph.spaces import Space, SpaceError


@interruptible()
def make_environment(spec: Any, *, path: str = "environment") -> Environment:
    """An environment from a spec.

    Args:
        spec: an `Environment`; a `gymnasium.Env` or `EnvSpec`; any object with `state_space`, `action_space`,
            `reset`, `step` and `terminate` (`rlgraph.core.protocols.Environment`); a registered name, a gymnasium
            id such as ``"CartPole-v1"``, or a class, "module:Class"; a mapping with ``type`` (a registered name,
            "module:Class", or a class) and constructor arguments; what an `EnvironmentAdapter` understands; or a class
            or function that returns one of these.
        path: place of the spec, for messages.

    Raises:
        SpecError: unknown type, id or argument; a module that may not be imported (`rlgraph.core.allow_imports`); in
            data, a path that is not allowed (`rlgraph.core.allow_paths`); an object that lacks parts of an
            environment (names all of them).
        EnvironmentFault: the code of the environment raises any other error; the error is its cause.
    """
    try:
        return _make_environment(spec, path)
    except (RLGraphError, SpaceError):
        raise
    except BaseException as error:
        raise_interruption(error)
        raise fault_of(error, path) from error


makers.append(make_environment)


def _make_environment(spec: Any, path: str) -> Environment:
    check_paths(spec, path)
    if isinstance(spec, Environment):
        return spec
    if is_vector_instance(spec):
        raise SpecError(
            f"expected a single environment, given the vector environment {type(spec).__name__}", path=path
        )
    if _is_named(spec):
        return _from_mapping(spec if isinstance(spec, Mapping) else {"type": spec}, path)
    if (adapter := adapter_of(spec)) is not None:
        return adapter.make(spec, path)
    if isinstance(spec, Mapping):
        return _from_mapping(spec, path)
    if callable(spec):
        return make_environment(spec(), path=path)
    raise SpecError(
        f"expected an environment, its name, a gymnasium id, or a mapping with 'type'; given {spec!r}",
        path=path,
    )


def _is_named(spec: Any) -> bool:
    """Whether `spec`, or its ``type``, is a registered name or the import path of a class."""
    kind = spec.get("type") if isinstance(spec, Mapping) else spec
    if not isinstance(kind, str):
        return False
    # "module:Class" is a class; Gymnasium's "module:id" has a version or a folder, which no class has.
    return kind in registry("rlgraph.environments") or (":" in kind and kind.partition(":")[2].isidentifier())


def check_environment(spec: Any, path: str = "environment") -> None:
    """Check a spec without making the environment: its name or id, its arguments, and their paths.

    Raises:
        SpecError: see `make_environment`.
    """
    check_paths(spec, path)
    is_named, adapter = _is_named(spec), adapter_of(spec)
    if is_named or adapter is None:
        _called(spec if isinstance(spec, Mapping) else {"type": spec}, path, lambda **_: None)
    if adapter is not None and not (is_named and isinstance(spec, str)):  # any text could be an id, too
        adapter.check(spec, path)


def _called(spec: Mapping[str, Any], path: str, make: Callable[..., Any] | None = None) -> Any:
    """The result of what a mapping names, or of `make` in place of it."""
    known = registry("rlgraph.environments")
    if "type" not in spec:
        raise SpecError(
            f"a mapping needs 'type', given {dict(spec)!r}. Known: {', '.join(known.names())}.", path=path
        )
    kind = spec["type"]
    arguments = {key: value for key, value in spec.items() if key != "type"}
    if not isinstance(kind, str) and not callable(kind):
        raise SpecError(f"expected a name, a class or a function, given {kind!r}", path=f"{path}.type")
    target = kind
    if isinstance(kind, str):
        target = known.resolve(kind, resembles_environment, "an environment's class", where=f"{path}.type")
    return call_checked(target, (), arguments, path, name=kind if isinstance(kind, str) else None, make=make)


def _from_mapping(spec: Mapping[str, Any], path: str) -> Environment:
    environment = _called(spec, path)
    kind = spec["type"]
    if not is_instance(environment) and adapter_of(environment) is None:
        raise SpecError(f"{kind!r} gives a {type(environment).__name__}, no Environment", path=f"{path}.type")
    return _make_environment(environment, f"{path}.type")


def is_instance(spec: Any) -> bool:
    """Whether `spec` is an existing environment or vector environment.

    It cannot be made again, and belongs to the caller.
    """
    if isinstance(spec, Environment | VectorEnv):
        return True
    adapter = adapter_of(spec)
    return adapter is not None and adapter.is_instance(spec)


def is_vector(spec: Any) -> bool:
    """Whether `spec` is an existing vector environment, or gives only such, as that of EnvPool does."""
    adapter = None if isinstance(spec, Environment) else adapter_of(spec)
    return isinstance(spec, VectorEnv) or (adapter is not None and adapter.is_vector(spec))


def is_vector_instance(spec: Any) -> bool:
    """Whether `spec` is an existing vector environment."""
    return is_vector(spec) and is_instance(spec)


def environment_spaces(spec: Any) -> tuple[Space, Space]:
    """The state Space and the action Space of an environment; one is made for this if `spec` is not an object.

    Raises:
        SpecError: see `make_environment`.
    """
    environment = make_vector_env(spec) if is_vector(spec) else make_environment(spec)
    if not is_instance(spec):
        release(environment.terminate, "environment")
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
            ``"envpool"``: by EnvPool, with the id as its task; that of another `EnvironmentAdapter`; ``"auto"``: native
            for a plain id that has such a class, with at least 8 environments; else sequential.
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
    check_paths(spec, "environment")
    num_envs = 1 if num_envs is None else num_envs
    vectorizing = {each.vectorization: each for each in adapters() if each.vectorization is not None}
    known = ("auto", "sequential", "processes", *vectorizing)
    if vectorization not in known:
        raise SpecError(f"expected one of {', '.join(known)}, given {vectorization!r}", path="vectorization")
    adapter = adapter_of(spec) if vectorization == "auto" else vectorizing.get(vectorization)
    if vectorization == "auto" and adapter is not None and not adapter.is_vector(spec):
        prefers = not validate_states and adapter.prefers_vector(spec, num_envs)
        adapter = adapter if prefers else None
    if adapter is not None:
        vector = adapter.make_vector(spec, num_envs)
        vector.validate_states = validate_states
        return vector
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
    adapter = None if isinstance(spec, VectorEnv) else adapter_of(spec)
    vector: VectorEnv = spec if adapter is None else adapter.make_vector(spec)
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
    return ProcessVectorEnv(partial(_make_under, spec_policy(), spec), num_envs, **options)


def _make_under(policy: SpecPolicy, spec: Any) -> Environment:
    """Make an environment in another process, under this process's policy."""
    with using_spec_policy(policy):
        return make_environment(spec)


def environment_settings(spec: Any) -> dict[str, Any] | None:
    """An environment's spec as a mapping with ``type``, the same for all aliases; None for objects and classes."""
    if isinstance(spec, str) and spec in registry("rlgraph.environments"):
        return {"type": spec}
    if (adapter := adapter_of(spec)) is not None:
        return adapter.settings(spec)
    return dict(spec) if isinstance(spec, Mapping) else None


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
