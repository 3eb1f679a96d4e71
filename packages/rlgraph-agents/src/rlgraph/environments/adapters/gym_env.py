"""The adapter for Gymnasium."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec

from rlgraph.core.errors import SpecError
from rlgraph.environments.adapters.gym_factory import gym_environment
from rlgraph.environments.adapters.gym_masks import (
    METHOD,
    GymMasks,
    check_unmasked,
    find_masks,
    inside_gymnasium_wrappers,
)
from rlgraph.environments.adapters.gym_states import gym_state, has_known_state, set_gym_state
from rlgraph.environments.adapters.gym_translation import (
    from_gym,
    passes_unchanged,
    space_of,
    states_of,
    to_gym,
)
from rlgraph.environments.adapters.old_gym import explain_error, reset_environment
from rlgraph.environments.environment import Environment, StepFunction, StepResult
from rlgraph.environments.errors import EnvironmentFault, fault_of, not_running
from rlgraph.environments.step_checks import is_end, number_of
from rlgraph.spaces import BoxSpace
from rlgraph.spaces.gymnasium import from_gymnasium


class OpenAIGymEnv(Environment):
    """A Gymnasium environment with RLgraph's Spaces and values.

    States have the shape and dtype of the state space, actions those of the action space. Discrete values count
    from 0. `rlgraph.spaces.gymnasium` maps the spaces.

    An environment that gives masks of its legal actions, as ``info["action_mask"]`` or by a method ``action_masks()``,
    has them as the part ``"action_mask"`` of its states, beside the parts of its observation, or ``"observation"`` if
    that is no Dict. To find out, the constructor resets all but Gymnasium's classic-control environments. Gymnasium's
    own wrappers around it, such as ``RecordVideo``, do not see this reset; without such wrappers the first `reset`
    without a seed returns its observation.

    Args:
        gym_env: a registered id ("CartPole-v1", "ale_py:ALE/Pong-v5"), a `gymnasium.Env` or an `EnvSpec`.
        max_episode_steps: steps after which an episode is truncated; None: the limit registered for the id.
        seed: the seed of the first reset, unless `reset` is given one.
        render_mode: as `gymnasium.make` takes it; only with an id.
        force_float32: float64 in observations and actions becomes float32.
        frameskip: repetitions of an action within one step; rewards are summed, the last state counts, and the end
            of an episode ends the repetition. Passed on to ids with an argument `frameskip` (ALE's). None: once, or
            the value registered for such an id.
        wrappers: wrappers to apply in turn, the first innermost. Each is "module:Class", the name of a class in
            `gymnasium.wrappers`, a mapping with one of these as ``type`` and further arguments, or a function of the
            environment.
        visualize: the same as `render_mode="human"`.
        env_id: the same as `gym_env`.
        make_kwargs: further arguments of `gymnasium.make`; only with an id.

    Raises:
        SpecError: an id is not registered, an argument needs an id, a wrapper cannot be made, or the environment
            resets itself.
        SpaceError: a Gymnasium space has no counterpart.
        EnvironmentFault: `reset` does not take a seed, or does not return an observation and a dict; masks do not fit.
    """

    translate_space = staticmethod(from_gymnasium)

    def __init__(
        self,
        gym_env: str | gymnasium.Env[Any, Any] | EnvSpec | None = None,
        max_episode_steps: int | None = None,
        seed: int | None = None,
        render_mode: str | None = None,
        force_float32: bool = True,
        frameskip: int | None = None,
        wrappers: Sequence[Any] = (),
        visualize: bool = False,
        env_id: str | None = None,
        **make_kwargs: Any,
    ) -> None:
        if (gym_env is None) == (env_id is None):
            raise SpecError(
                "give gym_env (or env_id, the same), a registered id or an environment.", path="OpenAIGymEnv"
            )
        if frameskip is not None and (not isinstance(frameskip, int) or frameskip < 1):
            raise SpecError(f"frameskip is an integer >= 1, got {frameskip!r}.", path="OpenAIGymEnv")
        render_mode = "human" if visualize and render_mode is None else render_mode
        made, self.frameskip = gym_environment(
            env_id if gym_env is None else gym_env,
            limit=max_episode_steps,
            render_mode=render_mode,
            frameskip=frameskip,
            wrappers=wrappers,
            kwargs=make_kwargs,
        )
        self.gym_env = made
        self._name = made.spec.id if made.spec is not None else type(made.unwrapped).__name__
        gym_states, gym_actions = states_of(made), made.action_space
        super().__init__(space_of(gym_states, force_float32), space_of(gym_actions, force_float32))
        self._to_state = from_gym(gym_states, self.state_space)
        self._to_action = to_gym(gym_actions, self.action_space)
        same_float = getattr(self.action_space, "dtype", None) == str(gym_actions.dtype)
        plain = passes_unchanged(gym_states) and passes_unchanged(gym_actions) and same_float
        self._seed = seed
        self._masks, self._first = self._looked_for_masks()
        if self._masks is not None:
            self.state_space = self._masks.state_space
        self._untranslated = plain and self.frameskip == 1 and self._masks is None
        self._kind = self.state_space.numpy_dtype.kind if isinstance(self.state_space, BoxSpace) else ""
        self._running = False
        unwrapped: Any = made.unwrapped
        self._minatar = unwrapped.game if type(unwrapped).__module__ == "minatar.gym" else None

    def _looked_for_masks(self) -> tuple[GymMasks | None, Any]:
        """The masks, if it has any, and the result of the reset that showed them."""
        env = self.gym_env
        if has_known_state(env):
            return None, None  # none of these classes has masks
        inner = inside_gymnasium_wrappers(env)
        try:
            first = reset_environment(inner, self._seed)
            method = env.get_wrapper_attr(METHOD) if env.has_wrapper_attr(METHOD) else None
        except EnvironmentFault as fault:
            raise fault_of(fault, f"{self.name}, step 0") from fault.__cause__
        except Exception:
            return None, None  # the next reset reports it
        if inner is env:
            self._seed = None
        try:
            masks = find_masks(self.state_space, self.action_space, first[1], method)
            return masks, first if inner is env else None
        except EnvironmentFault as fault:
            raise fault_of(fault, f"{self.name}, step 0") from None

    @property
    def name(self) -> str:
        """The registered id, or the name of the class."""
        return self._name

    def reset(self, seed: int | None = None) -> Any:
        """Begins an episode."""
        first, self._first = self._first, None
        if seed is not None or first is None:
            seed, self._seed = (self._seed if seed is None else seed), None
            first = reset_environment(self.gym_env, seed)
        if (
            self._minatar is not None
        ):  # it would repeat the last action of the episode before, even with a seed
            self._minatar.last_action = 0
        observation, info = first
        self._running = True
        return self._state(observation, info)

    def _state(self, observation: Any, info: Any) -> Any:
        """The observation as a state; if its kind of number differs from the Space, translation stays on."""
        if self._masks is not None:
            return self._masks.join(self._to_state(observation), self._masks.of(info))
        check_unmasked(self.state_space, info)
        if self._untranslated and np.asarray(observation).dtype.kind != self._kind:
            self._untranslated = False
        return self._to_state(observation)

    def step(self, action: Any) -> StepResult:
        """Acts once, or `frameskip` times.

        Raises:
            EnvironmentFault: no reset before; an action outside the action space that Gymnasium refused; a step of
                four values, as in the old gym.
        """
        if not self._running:
            raise not_running(self.name)
        try:
            given = self._to_action(action)
            observation, reward, terminated, truncated, info = self.gym_env.step(given)
            for _ in range(self.frameskip - 1):
                if is_end(terminated, truncated):
                    break
                observation, more, terminated, truncated, info = self.gym_env.step(given)
                reward = number_of(reward) + number_of(more)
        except Exception as error:
            fault = explain_error(error) or self.action_space.explain(action, "action")
            if fault is None:
                raise
            raise EnvironmentFault(f"{self.name}: {fault}") from error
        self._running = not is_end(terminated, truncated)
        return self._state(observation, info), number_of(reward), terminated, truncated, info

    def unchecked_step(self) -> StepFunction:
        """Gymnasium's own `step`, if at most a dtype needs translating."""
        return self.gym_env.step if self._untranslated else self.step

    def render(self) -> Any:
        """The picture that Gymnasium renders in `render_mode`."""
        return self.gym_env.render()

    def get_state(self) -> dict[str, Any] | None:
        """The state of a classic-control environment in the wrappers of `gymnasium.make`; else None.

        See `rlgraph.environments.adapters.gym_states.KNOWN`.
        """
        state = gym_state(self.gym_env)
        return None if state is None else {**state, "running": self._running}

    def set_state(self, state: Any) -> Any:
        """Restores a state from `get_state`; returns the state to act on."""
        self._first = None
        observation = set_gym_state(self.gym_env, state)
        self._running = state["running"]
        return self._to_state(observation)

    def terminate(self) -> None:
        """Closes the Gymnasium environment."""
        self._running = False
        self.gym_env.close()
