"""Gymnasium's vector environments.

Gymnasium has three ways to reset environments after an end (`gymnasium.vector.AutoresetMode`). All of them are
translated to the contract of `VectorEnv`, so that no transition joins two episodes.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from rlgraph.components.common.action_masks import NAME
from rlgraph.core import SpecError
from rlgraph.environments.adapters.cart_pole_vector_env import CartPoleVectorEnv
from rlgraph.environments.adapters.gym_batch_env import GymBatchEnv, each_info
from rlgraph.environments.adapters.gym_factory import warn_of_changed_rewards
from rlgraph.environments.adapters.gym_masks import find_masks, inside_gymnasium_wrappers
from rlgraph.environments.adapters.gym_states import (
    gym_vector_states,
    has_known_states,
    set_gym_vector_states,
)
from rlgraph.environments.adapters.gym_translation import from_gym
from rlgraph.environments.adapters.old_gym import reset_environment
from rlgraph.environments.closing import release
from rlgraph.environments.errors import EnvironmentFault, fault_of
from rlgraph.environments.interrupts import raise_interruption
from rlgraph.environments.rows import Rows, map_rows, write_row

GymVectorEnv = gymnasium.vector.VectorEnv[Any, Any, Any]

RESET_WITHIN_THE_STEP: dict[Any, Any] = {
    "gymnasium.envs.classic_control.cartpole:CartPoleVectorEnv": CartPoleVectorEnv
}
"""Vectorised classes of Gymnasium whose resets take a step -> the same without such steps."""


class NativeVectorEnv(GymBatchEnv):
    """A Gymnasium vector environment; see `VectorEnv` for the contract.

    ```python
    env = NativeVectorEnv("CartPole-v1", 64)      # gymnasium.make_vec with the vectorised class of the id
    env = NativeVectorEnv(gymnasium.vector.SyncVectorEnv([make] * 8))
    ```

    An environment that gives masks of its legal actions as ``info["action_mask"]`` has them as a part of its states, as
    with `OpenAIGymEnv`; the constructor resets it to find out, or the first environment of a ``SyncVectorEnv``.

    The arrays returned are new in every step. All environments share the random numbers of the class: there is no
    seed per environment. States can be saved and restored for the classes that `gym_states` lists.

    Args:
        environment: the id of an environment that has a vectorised class, or a vector environment.
        num_environments: number of environments; only with an id.
        force_float32: float64 in observations and actions becomes float32.
        make_kwargs: further arguments of `gymnasium.make_vec`; only with an id.

    Raises:
        SpecError: the id has no vectorised class; the environment does not declare how it resets, does not have the
            spaces of a single environment, or steps only some of its environments at a time.
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
        _check_form(environment)
        warn_of_changed_rewards(environment)
        gym_states, gym_actions = environment.single_observation_space, environment.single_action_space
        super().__init__(gym_states, gym_actions, environment.num_envs, force_float32)
        self._to_state = from_gym(gym_states, self.state_space)
        self._resets_in_the_next_step = self.mode is AutoresetMode.NEXT_STEP
        if not has_known_states(environment):
            self._look_for_masks()

    @property
    def name(self) -> str:
        """The registered id, or the name of the class."""
        named: str | None = getattr(self.gym_env.spec, "id", None)  # that of an EnvPool has no id
        return type(self.gym_env.unwrapped).__name__ if named is None else named

    def _look_for_masks(self) -> None:
        """Takes up the masks that the infos of a reset have, if they have any."""
        env = inside_gymnasium_wrappers(self.gym_env)
        try:
            if isinstance(env, SyncVectorEnv):
                first = reset_environment(inside_gymnasium_wrappers(env.envs[0]), None)[1]
            else:
                first = each_info(reset_environment(env, None)[1], self.num_environments)[0]
            self._masks = find_masks(self.state_space, self.action_space, first)
        except BaseException as error:
            raise_interruption(error)
            raise fault_of(error, f"{self.name}, step 0 of all environments") from error
        if self._masks is not None:
            self.state_space = self._masks.state_space

    def _reset(self, seed: int | None) -> tuple[Any, Any]:
        return reset_environment(self.gym_env, seed)

    def _step(self, actions: Any) -> Any:
        return self.gym_env.step(actions)

    def render(self, index: int = 0) -> Any:
        """A picture of one environment."""
        pictures = self.gym_env.render()
        return None if pictures is None else pictures[index]

    def get_states(self) -> list[Any] | None:
        """As `VectorEnv.get_states`; None unless the class is one of `gym_states`."""
        return gym_vector_states(self.gym_env)

    def set_states(self, states: Sequence[Any]) -> Rows:
        """As `VectorEnv.set_states`."""
        return self._begin(self._to_states(set_gym_vector_states(self.gym_env, states)))

    def terminate(self) -> None:
        """Closes the Gymnasium environment."""
        self._running = False
        release(self.gym_env.close, type(self.gym_env.unwrapped).__name__)

    def _after_reset(self, states: Rows, infos: Mapping[str, Any], ended: np.ndarray[Any, Any]) -> Rows:
        """The states to act on after an end; completes `final_states`."""
        if self.mode is AutoresetMode.DISABLED:
            observations, infos = self.gym_env.reset(options={"reset_mask": ended})
            begun = self._to_states(observations)
            if self._masks is None:
                return begun
            begun = self._masks.join(begun, map_rows(np.copy, states[NAME]))
            for index in self.finished:
                write_row(begun[NAME], index, self._masks.of(each_info(infos, self.num_environments)[index]))
            return begun
        if "final_obs" not in infos:
            raise EnvironmentFault(
                f"{self.describe(self.finished[0])}: resets within the step (AutoresetMode.SAME_STEP), but its infos "
                "lack 'final_obs', the observation that the step led to."
            )
        self.final_states = map_rows(np.copy, states)
        each = each_info(infos, self.num_environments)  # of the episodes that ended
        for index in self.finished:
            final = self._to_state(_entry(infos["final_obs"], index))
            if self._masks is not None:
                final = self._masks.join(final, self._masks.of(each[index]))
            write_row(self.final_states, index, final)
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
            f"Gymnasium has no vectorised class for {gym_id!r}; use 'sequential' or 'processes'.",
            path="vectorization='native'",
        )
    spec = copy.copy(gymnasium.spec(gym_id))
    spec.vector_entry_point = RESET_WITHIN_THE_STEP.get(spec.vector_entry_point, spec.vector_entry_point)
    return gymnasium.make_vec(spec, number, vectorization_mode="vector_entry_point", **kwargs)


def _autoreset_mode(environment: GymVectorEnv) -> AutoresetMode:
    mode = environment.metadata.get("autoreset_mode")
    try:
        return AutoresetMode(mode)
    except ValueError:
        known = ", ".join(f"AutoresetMode.{each.name}" for each in AutoresetMode)
        raise SpecError(
            f"expected one of {known} in metadata['autoreset_mode'], given {mode!r}.", path=str(environment)
        ) from None


def _check_form(environment: GymVectorEnv) -> None:
    """Raise `SpecError` if an attribute is missing, or not all environments step at once."""
    name = type(environment).__name__
    for attribute in ("num_envs", "single_observation_space", "single_action_space"):
        if getattr(environment, attribute, None) is None:
            raise SpecError(
                f"expected an attribute {attribute!r}, as gymnasium.vector.VectorEnv has it", path=name
            )
    if getattr(environment, "is_async", False):
        raise SpecError(
            "expected a pool that steps all its environments at once, given one with a smaller batch_size: leave "
            "batch_size out",
            path=name,
        )


def _entry(observations: Any, index: int) -> Any:
    """The observation of one environment, from a batch or from an array of observations."""
    return map_rows(lambda leaf: leaf[index], observations)
