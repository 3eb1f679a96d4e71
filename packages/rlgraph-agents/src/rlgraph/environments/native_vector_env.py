"""Gymnasium's vector environments: those that step all of their environments in one go.

Gymnasium knows three ways of resetting what has ended (`gymnasium.vector.AutoresetMode`); each of them is brought to
the contract of `VectorEnv` here, so that no row is taken for a transition that leads from one episode into another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from rlgraph.core import SpecError
from rlgraph.environments.errors import EnvironmentFault
from rlgraph.environments.gym_values import GymSpace, from_gym, space_of, to_gym
from rlgraph.environments.rows import Rows, map_rows, row_splitter, write_row
from rlgraph.environments.vector_env import VectorEnv, VectorStepResult
from rlgraph.spaces import BoxSpace, Dict, Space, Tuple

GymVectorEnv = gymnasium.vector.VectorEnv[Any, Any, Any]


class NativeVectorEnv(VectorEnv):
    """A Gymnasium vector environment; see `VectorEnv` for the contract.

    ```python
    env = NativeVectorEnv("CartPole-v1", 64)      # gymnasium.make_vec with the vectorised class of the id
    env = NativeVectorEnv(gymnasium.vector.SyncVectorEnv([make] * 8))
    ```

    The arrays returned are new in every step. All environments share what random numbers the class has: environment
    `i` has no seed of its own.

    Args:
        environment: the id of an environment that has a vectorised class, or a vector environment.
        num_environments: how many; only with an id.
        force_float32: float64 in observations and actions becomes float32.
        make_kwargs: further arguments of `gymnasium.make_vec`; only with an id.

    Raises:
        SpecError: an id without a vectorised class; an environment that does not say how it resets.
    """

    def __init__(
        self,
        environment: str | GymVectorEnv,
        num_environments: int = 1,
        force_float32: bool = True,
        **make_kwargs: Any,
    ) -> None:
        if isinstance(environment, str):
            environment = _make(environment, num_environments, make_kwargs)
        self.gym_env = environment
        self.mode = _autoreset_mode(environment)
        self.num_environments = environment.num_envs
        gym_states, gym_actions = environment.single_observation_space, environment.single_action_space
        self.state_space = space_of(gym_states, force_float32)
        self.action_space = space_of(gym_actions, force_float32)
        size = self.num_environments
        self._to_states = batch_from_gym(gym_states, self.state_space)
        self._to_state = from_gym(gym_states, self.state_space)
        self._to_actions = batch_to_gym(gym_actions, self.action_space)
        self._check_actions = row_splitter(self.action_space, size, "actions")
        self.finished, self.dropped, self.idle = [], (), ()
        self._final_states: Rows = None
        self._running = False

    def reset(self, seed: int | None = None) -> Rows:
        """Begins an episode in every environment, also where one is under way."""
        observations, _ = self.gym_env.reset(seed=seed)
        self.finished, self.dropped, self.idle = [], (), ()
        self._final_states = self._to_states(observations)
        self._running = True
        return self._final_states

    def step(self, actions: Any) -> VectorStepResult:
        """Acts once in every environment; see `VectorEnv.step`.

        Raises:
            EnvironmentFault: no reset before, actions of the wrong shape or kind, a reward that is not finite.
        """
        if not self._running:
            raise EnvironmentFault("NativeVectorEnv: call reset() before step().")
        self._check_actions(actions)
        self._running = False  # until this step is through
        observations, rewards, terminated, truncated, infos = self.gym_env.step(self._to_actions(actions))
        rewards = np.asarray(rewards, np.float32)
        if not np.isfinite(rewards).all():
            index = int(np.argmin(np.isfinite(rewards)))
            raise EnvironmentFault(
                f"{self.describe(index)}: the reward is {rewards[index]}; it must be finite."
            )
        # Gymnasium's classes may write into these arrays in the next step.
        terminated, truncated = np.array(terminated, np.bool_), np.array(truncated, np.bool_)
        self.idle = self.dropped = self.finished if self.mode is AutoresetMode.NEXT_STEP else ()
        self.finished = np.flatnonzero(terminated | truncated).tolist()
        states = self._final_states = self._to_states(observations)
        if self.finished and self.mode is not AutoresetMode.NEXT_STEP:
            states = self._after_reset(states, infos, terminated | truncated)
        self._running = True
        return states, rewards, terminated, truncated, each_info(infos, self.num_environments)

    @property
    def final_states(self) -> Rows:
        """The states the last step led to, before any reset, `[N, ...]`."""
        return self._final_states

    def describe(self, index: int) -> str:
        """What messages call environment `index`."""
        spec = self.gym_env.spec
        name = spec.id if spec is not None else type(self.gym_env.unwrapped).__name__
        return f"{name}, environment {index}"

    def render(self, index: int = 0) -> Any:
        """A picture of one of the environments."""
        pictures = self.gym_env.render()
        return None if pictures is None else pictures[index]

    def terminate(self) -> None:
        """Closes the Gymnasium environment."""
        self._running = False
        self.gym_env.close()

    def _after_reset(self, states: Rows, infos: Mapping[str, Any], ended: np.ndarray[Any, Any]) -> Rows:
        """The states to act on after an end; completes `final_states`."""
        if self.mode is AutoresetMode.DISABLED:
            observations, _ = self.gym_env.reset(options={"reset_mask": ended})
            return self._to_states(observations)
        if "final_obs" not in infos:
            raise EnvironmentFault(
                f"{self.describe(self.finished[0])}: resets within the step (AutoresetMode.SAME_STEP), but its infos "
                "have no 'final_obs', the observation that the step led to."
            )
        self._final_states = map_rows(np.copy, states)
        for index in self.finished:
            write_row(self._final_states, index, self._to_state(_entry(infos["final_obs"], index)))
        return states


def vectorised_id(gym_id: str) -> bool:
    """Whether Gymnasium has a vectorised class for an id."""
    try:
        return gymnasium.spec(gym_id).vector_entry_point is not None
    except gymnasium.error.Error:
        return False


def _make(gym_id: str, number: int, kwargs: dict[str, Any]) -> GymVectorEnv:
    if not vectorised_id(gym_id):
        raise SpecError(
            f"vectorization='native': Gymnasium has no vectorised class for {gym_id!r}; use 'sequential' or "
            "'processes'."
        )
    return gymnasium.make_vec(gym_id, number, vectorization_mode="vector_entry_point", **kwargs)


def _autoreset_mode(environment: GymVectorEnv) -> AutoresetMode:
    mode = environment.metadata.get("autoreset_mode")
    try:
        return AutoresetMode(mode)
    except ValueError:
        known = ", ".join(f"AutoresetMode.{each.name}" for each in AutoresetMode)
        raise SpecError(
            f"{environment}: its metadata['autoreset_mode'] has to say how it resets ({known}), given {mode!r}."
        ) from None


def _entry(observations: Any, index: int) -> Any:
    """The observation of one environment: of a batch, leaf by leaf, or of an array of observations."""
    return map_rows(lambda leaf: leaf[index], observations)


def each_info(infos: Mapping[str, Any], size: int) -> Sequence[dict[str, Any]]:
    """Gymnasium's dict of arrays (with `_key`: which rows have it) as one dict for each environment."""
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


def batch_from_gym(single: GymSpace, space: Space) -> Callable[[Any], Rows]:
    """A function from a batch of observations to rows of states, which are new arrays."""
    if isinstance(space, Dict) and isinstance(single, gymnasium.spaces.Dict):
        parts = {key: batch_from_gym(single[key], part) for key, part in space.items()}
        return lambda batch: {key: part(batch[key]) for key, part in parts.items()}
    if isinstance(space, Tuple) and isinstance(single, gymnasium.spaces.Tuple):
        items = [batch_from_gym(theirs, ours) for theirs, ours in zip(single.spaces, space, strict=True)]
        return lambda batch: tuple(item(part) for item, part in zip(items, batch, strict=True))
    assert isinstance(space, BoxSpace)
    dtype, start = space.numpy_dtype, getattr(single, "start", 0)
    if np.any(start):
        return lambda batch: (np.asarray(batch) - start).astype(dtype)
    return lambda batch: np.array(batch, dtype)


def batch_to_gym(single: GymSpace, space: Space) -> Callable[[Rows], Any]:
    """A function from rows of actions to what a vector environment takes."""
    if isinstance(space, Dict) and isinstance(single, gymnasium.spaces.Dict):
        parts = {key: batch_to_gym(single[key], space[key]) for key in single}
        return lambda batch: {key: part(batch[key]) for key, part in parts.items()}
    if isinstance(space, Tuple) and isinstance(single, gymnasium.spaces.Tuple):
        items = [batch_to_gym(theirs, ours) for theirs, ours in zip(single.spaces, space, strict=True)]
        return lambda batch: tuple(item(part) for item, part in zip(items, batch, strict=True))
    if isinstance(single, gymnasium.spaces.Discrete):
        start, dtype = int(single.start), single.dtype
        return lambda batch: np.asarray(batch, dtype) + dtype.type(start)
    return to_gym(single, space)
