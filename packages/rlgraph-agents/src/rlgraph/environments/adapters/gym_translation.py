"""Translates Gymnasium's spaces, observations and actions.

`rlgraph.spaces.gymnasium` maps the spaces. For learning, values of Discrete and MultiDiscrete count from 0 wherever
they start, and float64 becomes float32 on request. The translation of each leaf is chosen once, before an environment
runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces as gym_spaces

from rlgraph.environments.errors import EnvironmentFault
from rlgraph.environments.rows import check_integers
from rlgraph.spaces import BoxSpace, Dict, FloatBox, IntBox, Space, Tuple
from rlgraph.spaces.gymnasium import from_gymnasium

GymSpace: TypeAlias = gym_spaces.Space[Any]
Translation: TypeAlias = Callable[[Any], Any]

CAST_FROM = {"f": "fiub", "i": "iub", "u": "iub", "b": "biu", "O": "UO"}
"""For each kind of dtype, the kinds of observations that are cast to it."""


def states_of(env: Any) -> GymSpace:
    """The observation space of an environment.

    That of LunarLander has no bounds here: its height and its angular velocity leave those that it declares.
    """
    space: GymSpace = env.observation_space
    if type(env.unwrapped).__name__ != "LunarLander" or space != env.unwrapped.observation_space:
        return space
    return gym_spaces.Box(-np.inf, np.inf, space.shape, np.float32)


def space_of(gym_space: GymSpace, force_float32: bool) -> Space:
    """The Space of a Gymnasium space, without batch rank.

    Raises:
        SpaceError: the space has no counterpart; names its path.
    """
    return _convenient(gym_space, from_gymnasium(gym_space), force_float32)


def _convenient(gym_space: GymSpace, space: Space, force_float32: bool) -> Space:
    if isinstance(gym_space, gym_spaces.Dict) and isinstance(space, Dict):
        return Dict({key: _convenient(gym_space[key], part, force_float32) for key, part in space.items()})
    if isinstance(space, Tuple):
        return Tuple([_convenient(theirs, ours, force_float32) for theirs, ours in _pairs(gym_space, space)])
    if isinstance(gym_space, gym_spaces.Discrete):
        return IntBox(int(gym_space.n), dtype=space.dtype)  # type: ignore[attr-defined]
    if isinstance(gym_space, gym_spaces.MultiDiscrete):
        return IntBox(gym_space.nvec.astype(np.int64), shape=gym_space.shape, dtype=space.dtype)  # type: ignore[attr-defined]
    if isinstance(gym_space, gym_spaces.Box) and isinstance(space, FloatBox):
        dtype = "float32" if force_float32 and gym_space.dtype == np.float64 else str(gym_space.dtype)
        with np.errstate(over="ignore"):  # a bound beyond float32 becomes infinite
            return FloatBox(gym_space.low.astype(dtype), gym_space.high.astype(dtype), gym_space.shape, dtype)
    return space


def from_gym(gym_space: GymSpace, space: Space) -> Translation:
    """A function that translates an observation of `gym_space` to a state of `space`."""
    if isinstance(gym_space, gym_spaces.Dict) and isinstance(space, Dict):
        parts = {key: from_gym(gym_space[key], part) for key, part in space.items()}
        return lambda value: {key: part(value[key]) for key, part in parts.items()}
    if isinstance(space, Tuple):
        items = [from_gym(theirs, ours) for theirs, ours in _pairs(gym_space, space)]
        return lambda value: tuple(item(part) for item, part in zip(items, value, strict=True))
    if isinstance(gym_space, gym_spaces.Text):
        return str
    assert isinstance(space, BoxSpace)
    dtype = space.numpy_dtype
    if isinstance(gym_space, gym_spaces.Discrete):
        start = int(gym_space.start)
        return lambda value: dtype.type(cast(value, dtype) - start)
    if isinstance(gym_space, gym_spaces.MultiDiscrete):
        starts = gym_space.start
        return lambda value: (cast(value, dtype) - starts).astype(dtype)
    return lambda value: cast(value, dtype)


def cast(value: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """An observation as an array of `dtype`.

    Raises:
        EnvironmentFault: the cast would change its meaning: text, fractions as integers, too large integers.
    """
    array = np.asarray(value)
    if array.dtype.kind not in CAST_FROM[dtype.kind]:
        raise EnvironmentFault(f"state: expected {dtype}, given {array.dtype}.")
    check_integers(array, dtype, "state")
    return array.astype(dtype, copy=False)


def to_gym(gym_space: GymSpace, space: Space) -> Translation:
    """A function that translates an action of `space` to an action of `gym_space`."""
    if isinstance(gym_space, gym_spaces.Dict) and isinstance(space, Dict):
        parts = {key: to_gym(gym_space[key], space[key]) for key in gym_space}  # in Gymnasium's order
        return lambda value: {key: part(value[key]) for key, part in parts.items()}
    if isinstance(space, Tuple):
        items = [to_gym(theirs, ours) for theirs, ours in _pairs(gym_space, space)]
        return lambda value: tuple(item(part) for item, part in zip(items, value, strict=True))
    if isinstance(gym_space, gym_spaces.Text):
        return str
    dtype = gym_space.dtype
    if isinstance(gym_space, gym_spaces.Discrete):
        start = int(gym_space.start)
        return lambda value: int(value) + start
    if isinstance(gym_space, gym_spaces.MultiDiscrete):
        starts = gym_space.start
        return lambda value: (value + starts).astype(dtype)
    if isinstance(space, FloatBox) and isinstance(gym_space, gym_spaces.Box) and space.numpy_dtype != dtype:
        low, high = gym_space.low, gym_space.high  # a float32 near a bound may exceed it
        return lambda value: np.clip(np.asarray(value, dtype), low, high)
    return lambda value: np.asarray(value, dtype)


def passes_unchanged(gym_space: GymSpace) -> bool:
    """Whether a value needs no translation but a cast of its dtype."""
    if isinstance(gym_space, (gym_spaces.Discrete, gym_spaces.MultiDiscrete)):
        return not np.any(gym_space.start)
    return isinstance(gym_space, (gym_spaces.Box, gym_spaces.MultiBinary))


def _pairs(gym_space: GymSpace, space: Tuple) -> list[tuple[GymSpace, Space]]:
    """The children of a Gymnasium Tuple, each with its translation."""
    assert isinstance(gym_space, gym_spaces.Tuple)
    return list(zip(gym_space.spaces, space, strict=True))
