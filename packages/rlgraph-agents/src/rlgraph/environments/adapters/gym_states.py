"""Saving and restoring the states of Gymnasium's classic-control environments, single ones and vectors.

Copying all attributes of an unknown class may miss state that it keeps elsewhere, and a resumed run would differ
without a warning. Therefore this is a list of tested classes; other environments have no state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium import wrappers as gym_wrappers
from gymnasium.envs.classic_control.acrobot import AcrobotEnv
from gymnasium.envs.classic_control.cartpole import CartPoleEnv
from gymnasium.envs.classic_control.continuous_mountain_car import Continuous_MountainCarEnv
from gymnasium.envs.classic_control.mountain_car import MountainCarEnv
from gymnasium.envs.classic_control.pendulum import PendulumEnv
from gymnasium.envs.toy_text.cliffwalking import CliffWalkingEnv
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv

from rlgraph.environments.adapters.cart_pole_vector_env import CartPoleVectorEnv


class _Known(NamedTuple):
    attributes: tuple[str, ...]
    observe: Callable[[Any], Any]


def _state_as_float32(env: Any) -> Any:
    return np.array(env.state, np.float32)


KNOWN: dict[type, _Known] = {
    AcrobotEnv: _Known(("state",), lambda env: env._get_ob()),
    CartPoleEnv: _Known(("state", "steps_beyond_terminated"), _state_as_float32),
    CliffWalkingEnv: _Known(("s", "lastaction"), lambda env: int(env.s)),
    Continuous_MountainCarEnv: _Known(("state",), _state_as_float32),
    FrozenLakeEnv: _Known(("s", "lastaction"), lambda env: int(env.s)),
    MountainCarEnv: _Known(("state",), _state_as_float32),
    PendulumEnv: _Known(("state",), lambda env: env._get_obs()),
}
"""For each class the attributes that change while it runs, and how to observe them."""

KNOWN_VECTORS: dict[type, _Known] = {
    CartPoleVectorEnv: _Known(("state", "steps"), lambda env: env.state.T.astype(np.float32))
}
"""The same of vectorised classes; in each attribute the environments are the last axis."""

_WRAPPERS = (gym_wrappers.TimeLimit, gym_wrappers.OrderEnforcing, gym_wrappers.PassiveEnvChecker)


def has_known_state(env: gymnasium.Env[Any, Any]) -> bool:
    """Whether the class is one of `KNOWN`, in wrappers of `gymnasium.make` only."""
    return _chain(env)[0] is not None


def gym_state(env: gymnasium.Env[Any, Any]) -> dict[str, Any] | None:
    """Everything that `set_gym_state` needs; None if the class or a wrapper is unknown, or before the first reset."""
    inner, limits = _chain(env)
    if inner is None:
        return None
    known = KNOWN[type(inner)]
    values = {name: getattr(inner, name) for name in known.attributes}
    if values[known.attributes[0]] is None:
        return None
    return {
        "attributes": {name: _plain(value) for name, value in values.items()},
        "random": inner.np_random.bit_generator.state,
        "steps": [limit._elapsed_steps for limit in limits],
    }


def set_gym_state(env: gymnasium.Env[Any, Any], state: Any) -> Any:
    """Restores a state of `gym_state`; returns the observation.

    Raises:
        NotImplementedError: the class or a wrapper is unknown.
    """
    inner, limits = _chain(env)
    if inner is None:
        raise NotImplementedError(f"{env} cannot restore its state")
    env.reset()  # wrappers refuse to step before a reset; its random numbers are overwritten
    for name, value in state["attributes"].items():
        setattr(inner, name, value.copy() if isinstance(value, np.ndarray) else value)
    inner.np_random.bit_generator.state = state["random"]
    for limit, steps in zip(limits, state["steps"], strict=True):
        limit._elapsed_steps = steps
    return KNOWN[type(inner)].observe(inner)


def has_known_states(env: Any) -> bool:
    """Whether the class is one of `KNOWN_VECTORS`."""
    return type(env) in KNOWN_VECTORS


def gym_vector_states(env: Any) -> list[dict[str, Any]] | None:
    """The state of each environment, the random numbers of all in the first; None as for `gym_state`."""
    known = KNOWN_VECTORS.get(type(env))
    if known is None or env.state is None:
        return None
    states = [
        {"attributes": {name: np.array(getattr(env, name)[..., i]) for name in known.attributes}}
        for i in range(env.num_envs)
    ]
    states[0]["random"] = env.np_random.bit_generator.state
    return states


def set_gym_vector_states(env: Any, states: Sequence[Any]) -> Any:
    """Restores the states of `gym_vector_states`; returns the observations ``[N, ...]``.

    Raises:
        NotImplementedError: the class is unknown.
        ValueError: another number of environments.
    """
    known = KNOWN_VECTORS.get(type(env))
    if known is None:
        raise NotImplementedError(f"{env} cannot restore its states")
    if len(states) != env.num_envs:
        raise ValueError(f"expected the states of {env.num_envs} environments, given {len(states)}")
    env.reset()  # sets whatever else steps need; its random numbers are overwritten
    for name in known.attributes:
        setattr(env, name, np.stack([state["attributes"][name] for state in states], axis=-1))
    env.np_random.bit_generator.state = states[0]["random"]
    return known.observe(env)


def _chain(env: Any) -> tuple[Any, list[Any]]:
    """The innermost environment, None if its class is unknown, and the `TimeLimit`s around it."""
    limits = []
    while type(env) in _WRAPPERS:
        if type(env) is gym_wrappers.TimeLimit:
            limits.append(env)
        env = env.env
    return (env if type(env) in KNOWN else None), limits


def _plain(value: Any) -> Any:
    """Copies arrays, and converts tuples to arrays and NumPy scalars to Python numbers."""
    if isinstance(value, np.ndarray | tuple):
        return np.array(value)
    return value.item() if isinstance(value, np.generic) else value
