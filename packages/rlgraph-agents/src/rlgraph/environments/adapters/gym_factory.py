"""Makes Gymnasium environments from ids, specs and lists of wrappers."""

from __future__ import annotations

import difflib
import importlib
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import gymnasium
from gymnasium import wrappers as gym_wrappers
from gymnasium.envs.registration import EnvSpec

from rlgraph.core.errors import SpecError, nearest, text_of
from rlgraph.core.specs.imports import check_import, import_class
from rlgraph.core.specs.specifiable import check_arguments
from rlgraph.environments.adapters.old_gym import explain_class
from rlgraph.environments.extras import import_error, import_extra, not_importable
from rlgraph.environments.option_hints import OF_GYM, atari_id

GymEnv: TypeAlias = gymnasium.Env[Any, Any]

#: The largest number of frames that a wrapper stacks; more are a mistake.
MAX_FRAMES = 1000

#: How ids begin that a package registers when it is imported, or when a function of it is called.
REGISTERED_BY = {
    "ALE/": "ale_py",
    "BabyAI-": "minigrid",
    "MinAtar/": "minatar.gym:register_envs",
    "MiniGrid-": "minigrid",
}
#: The kind of wrappers that change rewards.
_CHANGES_REWARDS = (gymnasium.RewardWrapper, gymnasium.vector.VectorRewardWrapper)


def gym_environment(
    given: Any,
    *,
    limit: int | None,
    render_mode: str | None,
    frameskip: int | None,
    wrappers: Sequence[Any],
    kwargs: dict[str, Any],
) -> tuple[GymEnv, int]:
    """The environment, and the number of repetitions of each action left to the caller.

    Raises:
        SpecError: see `OpenAIGymEnv`.
    """
    if isinstance(given, str | EnvSpec):
        spec = spec_of(given)
        if frameskip is not None and "frameskip" in spec.kwargs:
            kwargs, frameskip = {**kwargs, "frameskip": frameskip}, None
        env = _make(given, limit, render_mode, kwargs)
    else:
        env = _existing(given, limit, render_mode, kwargs)
    for at, wrapper in enumerate(_listed(wrappers)):
        env = _wrapped(env, wrapper, f"OpenAIGymEnv.wrappers[{at}]")
    _no_autoreset(env)
    _no_missions(env, given)
    warn_of_changed_rewards(env)
    return env, frameskip or 1


def spec_of(given: str | EnvSpec, path: str = "OpenAIGymEnv") -> EnvSpec:
    """The entry of an id in Gymnasium's registry.

    Args:
        given: the id, or the entry itself.
        path: place of the id, for messages.

    Raises:
        SpecError: the id is not registered.
    """
    if isinstance(given, EnvSpec):
        return given
    module, _, gym_id = given.rpartition(":")
    for start, target in REGISTERED_BY.items():
        if gym_id.startswith(start) and gym_id not in gymnasium.registry:
            package, _, register = target.partition(":")
            imported = import_extra(package, gym_id, path)
            if register:
                getattr(imported, register)()
    if module:
        check_import(module, given, f"{path}.gym_env")
    try:
        if module:
            importlib.import_module(module)
        return gymnasium.spec(gym_id)
    except ModuleNotFoundError as error:
        raise SpecError(f"{given!r} names a module that is not installed: {error}.", path=path) from error
    except gymnasium.error.Error as error:
        raise SpecError(_unknown(gym_id), path=path) from error


def _make(given: str | EnvSpec, limit: int | None, render_mode: str | None, kwargs: dict[str, Any]) -> GymEnv:
    """`gymnasium.make` without its checker; the checks of the vector environment find more."""
    kwargs = {"disable_env_checker": True, **kwargs}
    try:
        return gymnasium.make(given, max_episode_steps=limit, render_mode=render_mode, **kwargs)
    except (gymnasium.error.Error, ImportError) as error:
        name = given if isinstance(given, str) else given.id
        missing = import_error(error)
        if missing is None or missing.name is None:
            raise SpecError(f"{name} cannot be made: {text_of(error)}", path="OpenAIGymEnv") from error
        raise not_importable(missing.name, missing, name, "OpenAIGymEnv") from error
    except TypeError as error:
        unknown = re.search(r"__init__\(\) got an unexpected keyword argument '(\w+)'", text_of(error))
        if unknown is None or unknown[1] not in kwargs:
            raise
        hint = f" {OF_GYM[unknown[1]]}" if unknown[1] in OF_GYM else ""
        name = given if isinstance(given, str) else given.id
        raise SpecError(f"{name} takes no such argument.{hint}", path=f"OpenAIGymEnv.{unknown[1]}") from error


def _existing(env: Any, limit: int | None, render_mode: str | None, kwargs: dict[str, Any]) -> GymEnv:
    """An existing environment, with a limit of steps."""
    if isinstance(env, gymnasium.vector.VectorEnv):
        raise SpecError(
            "one environment is needed, got a gymnasium.vector.VectorEnv; "
            "make_vector_env makes several of one id.",
            path="OpenAIGymEnv",
        )
    if not isinstance(env, gymnasium.Env):
        raise SpecError(
            explain_class(env)
            or f"gym_env is a registered id, an EnvSpec or a gymnasium.Env, got {type(env).__name__}.",
            path="OpenAIGymEnv",
        )
    unused = [*kwargs, *(["render_mode"] if render_mode is not None else [])]
    if unused:
        raise SpecError(
            f"{', '.join(unused)} can be given only with an id, not with an environment.", path="OpenAIGymEnv"
        )
    return env if limit is None else gym_wrappers.TimeLimit(env, limit)


def _listed(wrappers: Any) -> Sequence[Any]:
    if isinstance(wrappers, str) or not isinstance(wrappers, Sequence):
        raise SpecError(f"wrappers is a list, got {wrappers!r}.", path="OpenAIGymEnv")
    return wrappers


def _wrapped(env: GymEnv, spec: Any, path: str) -> GymEnv:
    """`env` inside the wrapper that `spec` describes."""
    if isinstance(spec, Mapping) and "type" in spec:
        wrapper = _wrapper_class(spec["type"], f"{path}.type")
        arguments = {key: value for key, value in spec.items() if key != "type"}
        check_arguments(wrapper, arguments, path)
        _check_frames(arguments.get("stack_size"), f"{path}.stack_size")
    elif isinstance(spec, str) or callable(spec):
        wrapper, arguments = _wrapper_class(spec, path), {}
    else:
        raise SpecError(
            "expected 'module:Class', a name in gymnasium.wrappers, a mapping with 'type', or a "
            f"function of the environment; got {spec!r}.",
            path=path,
        )
    try:
        wrapped = wrapper(env, **arguments)
    except (TypeError, ValueError, AssertionError) as error:
        raise SpecError(f"{spec!r} cannot wrap {env}: {text_of(error)}", path=path) from error
    if not isinstance(wrapped, gymnasium.Env):
        raise SpecError(f"{spec!r} returns a {type(wrapped).__name__}, expected a gymnasium.Env.", path=path)
    return wrapped


def _check_frames(number: Any, where: str) -> None:
    """Refuse a stack that takes all memory when it is made."""
    if isinstance(number, int) and number > MAX_FRAMES:
        raise SpecError(f"expected at most {MAX_FRAMES:,} frames, given {number:,}", path=where)


def _wrapper_class(name: Any, path: str) -> Callable[..., Any]:
    if callable(name):
        return name
    if not isinstance(name, str):
        raise SpecError(f"expected the name of a wrapper, got {name!r}.", path=path)
    if ":" in name:
        return import_class(
            name, lambda kind: issubclass(kind, gymnasium.Wrapper), "a gymnasium.Wrapper", where=path
        )
    if name not in gym_wrappers.__all__:
        raise SpecError(
            f"gymnasium.wrappers has no {name!r}. {nearest(name, gym_wrappers.__all__)} "
            "Write one of another module as 'module:Class'.",
            path=path,
        )
    wrapper: Callable[..., Any] = getattr(gym_wrappers, name)
    return wrapper


def warn_of_changed_rewards(env: Any) -> None:
    """Say that returns are those of wrappers that change rewards, of one environment or of a vector; once a process."""
    while isinstance(env, gymnasium.Wrapper | gymnasium.vector.VectorWrapper):
        name = type(env).__name__
        if isinstance(env, _CHANGES_REWARDS) or name == "NormalizeReward":  # Gymnasium has two of this name
            warnings.warn(
                f"the wrapper {name} changes rewards: all returns, those of evaluations and of stopping included, are "
                "in its units. For returns of the task remove it; the agent's option scale_rewards scales what is "
                "learned from alone",
                RuntimeWarning,
                stacklevel=2,
            )
        env = env.env


def _no_autoreset(env: GymEnv) -> None:
    """Refuses an environment that resets itself, since its `step` hides the final states."""
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, gym_wrappers.Autoreset):
            raise SpecError(
                "the wrapper Autoreset hides the final states of episodes; remove it. Workers and "
                "vector environments reset environments.",
                path="OpenAIGymEnv",
            )
        env = env.env


def _no_missions(env: GymEnv, given: Any) -> None:
    """Refuses states of MiniGrid with missions, whose space of texts has no counterpart."""
    states = env.observation_space
    if isinstance(states, gymnasium.spaces.Dict) and "MissionSpace" in {
        type(part).__name__ for part in states.values()
    }:
        name = given if isinstance(given, str) else type(env.unwrapped).__name__
        raise SpecError(
            f"{name} is one of MiniGrid, whose missions have no Space: make it by {{'type': 'minigrid', 'env_id': "
            f"{name!r}}}, or put a wrapper around it, such as 'minigrid.wrappers:ImgObsWrapper'",
            path="OpenAIGymEnv",
        )


def _unknown(gym_id: str) -> str:
    """The message for an id that is not registered."""
    if game := atari_id(gym_id):
        return (
            f"no environment {gym_id!r} is registered with Gymnasium. It is {game!r} now, of the extra atari."
        )
    known = sorted(gymnasium.registry, reverse=True)  # the newer of two equally near versions
    lowered = [name.lower() for name in known]
    close = difflib.get_close_matches(gym_id.lower()[:100], lowered, n=1, cutoff=0.0)
    hint = f"The nearest is {known[lowered.index(close[0])]!r}. " if close else ""
    return (
        f"no environment {gym_id!r} is registered with Gymnasium. {hint}"
        "Write one that a package registers as 'module:id', for example 'ale_py:ALE/Pong-v5'."
    )
