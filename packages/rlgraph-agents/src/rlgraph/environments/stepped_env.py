"""Repeated actions and a limit of steps, which a worker adds to an environment."""

from __future__ import annotations

from functools import partial
from typing import Any

from rlgraph.core import SpecError
from rlgraph.environments.environment import Environment, StepFunction, StepResult
from rlgraph.environments.factory import is_instance, is_vector_instance, make_environment
from rlgraph.environments.step_checks import is_end, number_of


class SteppedEnv(Environment):
    """Repeats each action, and truncates an episode after a number of steps.

    Args:
        environment: the environment.
        frameskip: repetitions of each action; the rewards are summed, and the end of an episode ends the repetition.
        max_timesteps: steps (of `frameskip` frames) after which an episode is truncated; None: no limit.
    """

    def __init__(self, environment: Environment, frameskip: int = 1, max_timesteps: int | None = None):
        super().__init__(environment.state_space, environment.action_space)
        self.environment, self.frameskip, self.max_timesteps = environment, frameskip, max_timesteps
        self._steps = 0

    @property
    def name(self) -> str:
        return self.environment.name

    def reset(self, seed: int | None = None) -> Any:
        self._steps = 0
        return self.environment.reset(seed=seed)

    def step(self, action: Any) -> StepResult:
        return self._step(self.environment.step, action)

    def unchecked_step(self) -> StepFunction:
        return partial(self._step, self.environment.unchecked_step())

    def _step(self, step: StepFunction, action: Any) -> StepResult:
        state, reward, terminated, truncated, info = step(action)
        for _ in range(self.frameskip - 1):
            if is_end(terminated, truncated):
                break
            state, more, terminated, truncated, info = step(action)
            reward = number_of(reward) + number_of(more)
        self._steps += 1
        if self._steps == self.max_timesteps:
            is_end(terminated, truncated)  # before its fault is overwritten
            truncated = True
        return state, reward, terminated, truncated, info

    def render(self) -> Any:
        return self.environment.render()

    def get_state(self) -> Any:
        inner = self.environment.get_state()
        return None if inner is None else {"environment": inner, "steps": self._steps}

    def set_state(self, state: Any) -> Any:
        self._steps = int(state["steps"])
        return self.environment.set_state(state["environment"])

    def terminate(self) -> None:
        self.environment.terminate()


def stepped(spec: Any, frameskip: int, max_timesteps: int | None) -> Any:
    """The environment spec of `spec` with these rules; `spec` itself if they change nothing.

    Raises:
        SpecError: they are for a vector environment, whose environments exist already.
    """
    if frameskip == 1 and max_timesteps is None:
        return spec
    if is_vector_instance(spec):
        raise SpecError(
            f"expected an id, a spec or a function, given the vector environment {type(spec).__name__}: apply it "
            "where that is made",
            path="frameskip" if frameskip != 1 else "max_timesteps_per_episode",
        )
    if is_instance(spec):
        return make_stepped(spec, frameskip, max_timesteps)
    return partial(make_stepped, spec, frameskip, max_timesteps)


def make_stepped(spec: Any, frameskip: int, max_timesteps: int | None) -> SteppedEnv:
    """A `SteppedEnv` around the environment of `spec`."""
    return SteppedEnv(make_environment(spec), frameskip, max_timesteps)
