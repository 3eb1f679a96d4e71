"""The adapter for Gymnasium."""

from __future__ import annotations

import difflib
from typing import Any

import gymnasium
from gymnasium.wrappers import TimeLimit

from rlgraph.core.errors import SpecError
from rlgraph.environments.environment import Environment, StepFunction, StepResult
from rlgraph.environments.errors import EnvironmentFault
from rlgraph.environments.gym_values import from_gym, passes_unchanged, space_of, to_gym


class OpenAIGymEnv(Environment):
    """A Gymnasium environment, its spaces and values translated both ways.

    States come in the shape and dtype of the state space, actions are given in those of the action space.
    Discrete values count from 0 on this side. `rlgraph.spaces.gymnasium` says which Space belongs to which.

    Args:
        gym_env: a registered id ("CartPole-v1", "ale_py:ALE/Pong-v5") or an environment.
        max_episode_steps: truncates an episode after so many steps. None: the limit the id is registered
            with.
        seed: the seed of the first reset, where that is given none.
        render_mode: as `gymnasium.make` takes it; only with an id.
        force_float32: float64 in observations and actions becomes float32.
        make_kwargs: further arguments of `gymnasium.make`; only with an id.

    Raises:
        SpecError: an id nobody registered, an argument that does not go with an environment.
        SpaceError: a Gymnasium space without counterpart.
    """

    def __init__(
        self,
        gym_env: str | gymnasium.Env[Any, Any],
        max_episode_steps: int | None = None,
        seed: int | None = None,
        render_mode: str | None = None,
        force_float32: bool = True,
        **make_kwargs: Any,
    ) -> None:
        if isinstance(gym_env, str):
            self.gym_env = _make(gym_env, max_episode_steps, render_mode, make_kwargs)
        else:
            self.gym_env = _limited(gym_env, max_episode_steps, render_mode, make_kwargs)
        gym_states, gym_actions = self.gym_env.observation_space, self.gym_env.action_space
        super().__init__(space_of(gym_states, force_float32), space_of(gym_actions, force_float32))
        self._to_state = from_gym(gym_states, self.state_space)
        self._to_action = to_gym(gym_actions, self.action_space)
        same_float = getattr(self.action_space, "dtype", None) == str(gym_actions.dtype)
        self._untranslated = passes_unchanged(gym_states) and passes_unchanged(gym_actions) and same_float
        self._seed = seed
        self._running = False

    @property
    def name(self) -> str:
        """The registered id; without one the name of the class."""
        spec = self.gym_env.spec
        return spec.id if spec is not None else type(self.gym_env.unwrapped).__name__

    def reset(self, seed: int | None = None) -> Any:
        """Begins an episode."""
        seed, self._seed = (self._seed if seed is None else seed), None
        observation, _ = self.gym_env.reset(seed=seed)
        self._running = True
        return self._to_state(observation)

    def step(self, action: Any) -> StepResult:
        """Acts once.

        Raises:
            EnvironmentFault: no reset before; an action outside the action space that Gymnasium stumbled
                over.
        """
        if not self._running:
            raise EnvironmentFault(
                f"{self.name}: the episode is over or has not begun; call reset() before step()."
            )
        try:
            observation, reward, terminated, truncated, info = self.gym_env.step(self._to_action(action))
        except Exception as error:
            fault = self.action_space.explain(action, "action")
            if fault is None:
                raise
            raise EnvironmentFault(f"{self.name}: {fault}") from error
        self._running = not (terminated or truncated)
        return self._to_state(observation), float(reward), bool(terminated), bool(truncated), info

    def unchecked_step(self) -> StepFunction:
        """Gymnasium's own `step` where nothing but a dtype needs translating."""
        return self.gym_env.step if self._untranslated else self.step

    def render(self) -> Any:
        """What Gymnasium renders in the chosen `render_mode`."""
        return self.gym_env.render()

    def terminate(self) -> None:
        """Closes the Gymnasium environment."""
        self._running = False
        self.gym_env.close()


def _make(
    gym_id: str, limit: int | None, render_mode: str | None, kwargs: dict[str, Any]
) -> gymnasium.Env[Any, Any]:
    """`gymnasium.make`, without its checker (the checks of the vector environment see more and end)."""
    kwargs = {"disable_env_checker": True, **kwargs}
    try:
        return gymnasium.make(gym_id, max_episode_steps=limit, render_mode=render_mode, **kwargs)
    except gymnasium.error.Error as error:
        malformed = type(error) is gymnasium.error.Error and gym_id not in gymnasium.registry
        if malformed or isinstance(error, gymnasium.error.UnregisteredEnv):
            raise SpecError(_unknown(gym_id)) from error
        raise


def _limited(
    env: gymnasium.Env[Any, Any], limit: int | None, render_mode: str | None, kwargs: dict[str, Any]
) -> gymnasium.Env[Any, Any]:
    """An environment that exists already, with a limit of steps."""
    if not isinstance(env, gymnasium.Env):
        raise SpecError(
            f"OpenAIGymEnv: gym_env is a registered id or a gymnasium.Env, got {type(env).__name__}."
        )
    unused = [*kwargs, *(["render_mode"] if render_mode is not None else [])]
    if unused:
        raise SpecError(
            f"OpenAIGymEnv: {', '.join(unused)} can be given only with an id, "
            "the environment given exists already."
        )
    return env if limit is None else TimeLimit(env, limit)


def _unknown(gym_id: str) -> str:
    """The message for an id that is not registered."""
    known = sorted(gymnasium.registry, reverse=True)  # of two versions equally near the newer
    lowered = [name.lower() for name in known]
    close = difflib.get_close_matches(gym_id.lower(), lowered, n=1, cutoff=0.0)
    hint = f"The nearest is {known[lowered.index(close[0])]!r}. " if close else ""
    return (
        f"OpenAIGymEnv: no environment {gym_id!r} is registered with Gymnasium. {hint}"
        "One that a package registers is written 'module:id', for example 'ale_py:ALE/Pong-v5'."
    )
