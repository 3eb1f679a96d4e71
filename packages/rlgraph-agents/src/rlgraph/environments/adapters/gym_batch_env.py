"""The base of vector environments that step all environments in one call, with values of Gymnasium's spaces."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import gymnasium
import numpy as np

from rlgraph.environments.adapters.gym_masks import GymMasks, check_unmasked
from rlgraph.environments.adapters.gym_translation import CAST_FROM, GymSpace, space_of, to_gym
from rlgraph.environments.adapters.old_gym import explain_error
from rlgraph.environments.errors import EnvironmentFault, fault_of
from rlgraph.environments.interrupts import raise_interruption
from rlgraph.environments.rows import Rows, check_integers, row_splitter, write_row
from rlgraph.environments.step_checks import LARGEST_REWARD, explain_number
from rlgraph.environments.vector_env import VectorEnv, VectorStepResult
from rlgraph.spaces import BoxSpace, Dict, Space, Tuple

#: Up to this many numbers are added faster in Python.
_FEW = 32


class GymBatchEnv(VectorEnv):
    """Environments that step in one call; see `VectorEnv`.

    Every result is checked: its form, the shapes and kinds of numbers, finite rewards. Any error is an
    `EnvironmentFault`; there are no restarts, since single environments cannot be replaced.

    Args:
        gym_states, gym_actions: the spaces of one environment.
        num_environments: number of environments.
        force_float32: float64 in observations and actions becomes float32.
    """

    #: Whether an end is followed by a step that only resets.
    _resets_in_the_next_step = True

    def __init__(
        self, gym_states: GymSpace, gym_actions: GymSpace, num_environments: int, force_float32: bool
    ) -> None:
        self.num_environments = num_environments
        self.state_space = space_of(gym_states, force_float32)
        self.action_space = space_of(gym_actions, force_float32)
        self._to_states = batch_from_gym(gym_states, self.state_space, num_environments)
        self._to_actions = batch_to_gym(gym_actions, self.action_space)
        self._check_actions = row_splitter(self.action_space, num_environments, "actions")
        self.finished, self.dropped, self.idle = [], (), ()
        self.final_states: Rows = None
        self._running = False
        self._clock = 0
        #: The shape of what is one number per environment.
        self._column = (num_environments,)
        self._masks: GymMasks | None = None

    def _with_masks(self, states: Rows, infos: Mapping[str, Any]) -> Rows:
        """States with the masks of these infos; the same states where there are none."""
        if self._masks is None:
            check_unmasked(self.state_space, infos)
            return states
        return self._masks.join(states, self._mask_rows(each_info(infos, self.num_environments)))

    def _mask_rows(self, infos: Sequence[Mapping[str, Any]]) -> Rows:
        """The masks of all environments ``[N, ...]``."""
        assert self._masks is not None
        rows = self._masks.mask_space.zeros(self.num_environments)
        for index, info in enumerate(infos):
            try:
                write_row(rows, index, self._masks.of(info))
            except EnvironmentFault as fault:
                raise EnvironmentFault(f"environment {index}: {fault}") from None
        return rows

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the environments in messages."""

    @abstractmethod
    def _reset(self, seed: int | None) -> tuple[Any, Any]:
        """Begins an episode in every environment; returns the observations and infos."""

    @abstractmethod
    def _step(self, actions: Any) -> Any:
        """The result of a step, in the form of Gymnasium's vector environments."""

    def reset(self, seed: int | None = None) -> Rows:
        """Begins an episode in every environment, also if one is running."""
        self._running = False
        self._clock = 0
        try:
            observations, infos = self._reset(seed)
            states = self._with_masks(self._to_states(observations), infos)
        except BaseException as error:
            raise_interruption(error)
            raise fault_of(error, f"{self.name}, reset") from error
        return self._begin(states)

    def _begin(self, states: Rows) -> Rows:
        """Lets steps follow from these states."""
        self.finished, self.dropped, self.idle = [], (), ()
        self.final_states = states
        self._running = True
        return states

    def step(self, actions: Any) -> VectorStepResult:
        """Acts once in every environment; see `VectorEnv.step`.

        Raises:
            EnvironmentFault: no reset before, actions of the wrong shape or kind, a broken contract, any error of the
                environments.
        """
        if not self._running:
            raise EnvironmentFault(f"{type(self).__name__}: call reset() before step().")
        self._check_actions(actions)
        self._running = False  # until this step has succeeded
        self._clock += 1
        try:
            result = self._read(self._step(self._to_actions(actions)))
        except BaseException as error:
            raise_interruption(error)
            old = explain_error(error)
            fault = error if old is None else EnvironmentFault(old)
            raise fault_of(fault, f"{self.name}, step {self._clock} of all environments") from error
        self._running = True
        return result

    def describe(self, index: int) -> str:
        """The name of environment `index` in messages."""
        return f"{self.name}, environment {index}"

    def _read(self, result: Any) -> VectorStepResult:
        if not isinstance(result, tuple) or len(result) != 5:
            given = f"a tuple of {len(result)}" if isinstance(result, tuple) else type(result).__name__
            raise EnvironmentFault(
                f"step() returns (observations, rewards, terminated, truncated, infos), got {given}."
            )
        observations, rewards, terminated, truncated, infos = result
        rewards = _checked(rewards, self._column, "fiub", "rewards")
        if not _surely_finite(rewards):  # a cheap check of all; only a failure checks each
            for index, reward in enumerate(rewards.tolist()):
                if (fault := explain_number(reward)) is not None:
                    raise EnvironmentFault(f"environment {index}: {fault}.")
        # The classes may write into these arrays in the next step.
        terminated = _checked(terminated, self._column, "b", "terminated").copy()
        truncated = _checked(truncated, self._column, "b", "truncated").copy()
        if type(infos) is not dict and not isinstance(infos, Mapping):
            raise EnvironmentFault(f"infos is a dict, got {type(infos).__name__}.")
        ended = terminated | truncated
        self.idle = self.dropped = self.finished if self._resets_in_the_next_step else ()
        self.finished = ended.nonzero()[0].tolist()
        states = self._to_states(observations)
        if infos or self._masks is not None:
            # The masks beside the states, not those of the episodes that ended.
            now = (
                {key: value for key, value in infos.items() if key != "final_info"} if self._masks else infos
            )
            states = self._with_masks(states, now)
        self.final_states = states
        if self.finished and not self._resets_in_the_next_step:
            states = self._after_reset(states, infos, ended)
        each = each_info(infos, self.num_environments)
        return states, rewards.astype(np.float32), terminated, truncated, each

    def _after_reset(self, states: Rows, infos: Mapping[str, Any], ended: np.ndarray[Any, Any]) -> Rows:
        """The states to act on after an end, if resets take no step; completes `final_states`."""
        raise NotImplementedError


def _checked(values: Any, shape: tuple[int, ...], kinds: str, name: str) -> np.ndarray[Any, Any]:
    array = values if type(values) is np.ndarray else np.asarray(values)
    if array.shape != shape or array.dtype.kind not in kinds:
        expected = {"b": "bools", "fiub": "numbers"}.get(kinds, "integers")
        raise EnvironmentFault(
            f"{name}: expected {expected} of shape {shape}, given {array.dtype} of shape {array.shape}."
        )
    return array


def _surely_finite(rewards: np.ndarray[Any, Any]) -> bool:
    """Whether rewards are finite numbers of float32; False also where their sum or their squares are not."""
    if len(rewards) <= _FEW:
        return sum(map(abs, rewards.tolist())) <= LARGEST_REWARD
    numbers = rewards.astype(np.float64)
    return bool(np.vdot(numbers, numbers) <= LARGEST_REWARD)  # `dot` would warn of an overflow


def each_info(infos: Mapping[str, Any], size: int) -> Sequence[dict[str, Any]]:
    """Gymnasium's dict of arrays (`_key` marks the rows that have it) as one dict per environment."""
    if not infos:
        return _NoInfos(size)
    each: list[dict[str, Any]] = [{} for _ in range(size)]
    for key, values in infos.items():
        if key.startswith("_") or key in ("final_obs", "final_info"):
            continue
        has = infos.get(f"_{key}", np.ones(size, np.bool_))
        nested = each_info(values, size) if isinstance(values, Mapping) else values
        for index in np.flatnonzero(has).tolist():
            each[index][key] = nested[index]
    final, has = infos.get("final_info"), infos.get("_final_info")
    if isinstance(final, Mapping) and has is not None:
        for index in np.flatnonzero(has).tolist():  # the info of the step that ended the episode
            each[index] = each_info(final, size)[index]
    return each


class _NoInfos(Sequence[dict[str, Any]]):
    """Empty dicts, made when somebody looks: nearly every step has them."""

    def __init__(self, size: int) -> None:
        self._size = size

    @cached_property
    def _each(self) -> list[dict[str, Any]]:
        return [{} for _ in range(self._size)]

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: Any) -> Any:
        return self._each[index]

    def __eq__(self, other: object) -> bool:
        return self._each == other

    def __repr__(self) -> str:
        return repr(self._each)


def batch_from_gym(
    single: GymSpace, space: Space, size: int, name: str = "observations"
) -> Callable[[Any], Rows]:
    """A function that translates a batch of observations to rows of states, which are new arrays.

    The function raises:
        EnvironmentFault: a leaf has another shape or kind of number; the message lacks the place.
    """
    if isinstance(space, Dict) and isinstance(single, gymnasium.spaces.Dict):
        parts = {key: batch_from_gym(single[key], part, size, f"{name}/{key}") for key, part in space.items()}
        return lambda batch: {key: part(batch[key]) for key, part in parts.items()}
    if isinstance(space, Tuple) and isinstance(single, gymnasium.spaces.Tuple):
        items = [
            batch_from_gym(theirs, ours, size, f"{name}/{i}")
            for i, (theirs, ours) in enumerate(zip(single.spaces, space, strict=True))
        ]
        return lambda batch: tuple(item(part) for item, part in zip(items, batch, strict=True))
    assert isinstance(space, BoxSpace)
    dtype, start, shape = space.numpy_dtype, getattr(single, "start", 0), (size, *space.shape)
    kinds = CAST_FROM[dtype.kind]

    def translate(batch: Any) -> Rows:
        array = _checked(batch, shape, kinds, name)
        array = array - start if starts else array
        if array.dtype != dtype:
            for index, row in enumerate(array if dtype.kind in "iu" else ()):
                check_integers(row, dtype, f"environment {index}: {name}")
        return np.array(array, dtype)

    starts = bool(np.any(start))
    return translate


def batch_to_gym(single: GymSpace, space: Space) -> Callable[[Rows], Any]:
    """A function that translates rows of actions for a vector environment."""
    if isinstance(space, Dict) and isinstance(single, gymnasium.spaces.Dict):
        parts = {key: batch_to_gym(single[key], space[key]) for key in single}
        return lambda batch: {key: part(batch[key]) for key, part in parts.items()}
    if isinstance(space, Tuple) and isinstance(single, gymnasium.spaces.Tuple):
        items = [batch_to_gym(theirs, ours) for theirs, ours in zip(single.spaces, space, strict=True)]
        return lambda batch: tuple(item(part) for item, part in zip(items, batch, strict=True))
    if isinstance(single, gymnasium.spaces.Discrete):
        start, dtype = single.dtype.type(single.start), single.dtype
        # A copy, as sums are: the environment may keep it.
        return (lambda batch: np.asarray(batch, dtype) + start) if start else partial(np.array, dtype=dtype)
    return to_gym(single, space)
