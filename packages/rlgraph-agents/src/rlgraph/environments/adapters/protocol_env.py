"""The adapter for classes that implement the protocol of environments without inheriting from `Environment`."""

from __future__ import annotations

from typing import Any

from rlgraph.core.errors import SpecError
from rlgraph.environments.adapter import EnvironmentAdapter
from rlgraph.environments.adapters.old_gym import explain_class
from rlgraph.environments.environment import Environment, StepFunction, StepResult, resembles_environment
from rlgraph.spaces import Space

METHODS = ("reset", "step", "terminate")
REQUIRED = ("state_space", "action_space", *METHODS)
_HINTS = {
    "terminate": "def terminate(self): pass, if there is nothing to release",
    "reset": "def reset(self, seed=None), which returns the first state",
    "step": "def step(self, action), which returns (state, reward, terminated, truncated, info)",
    "state_space": "a Space, for example FloatBox(shape=(4,))",
    "action_space": "a Space, for example IntBox(2)",
}


class ProtocolEnv(Environment):
    """Wraps an object with the attributes of `rlgraph.core.protocols.Environment`.

    Further methods of `Environment` (`name`, `render`, `get_state`, `set_state`, `unchecked_step`) are the object's
    own, if it has them.

    Args:
        environment: the object. Its Spaces may be specs of Spaces.

    Raises:
        SpecError: attributes are missing; lists them.
        SpaceError: a Space cannot be read.
    """

    def __init__(self, environment: Any) -> None:
        missing = missing_parts(environment)
        if missing:
            listed = "".join(f"\n  {name}: {_HINTS[name]}" for name in missing)
            raise SpecError(f"{type(environment).__name__} is not an environment; it lacks{listed}")
        super().__init__(Space.from_spec(environment.state_space), Space.from_spec(environment.action_space))
        self.environment = environment

    @property
    def name(self) -> str:
        """The object's name, or that of its class."""
        name = getattr(self.environment, "name", None)
        return name if isinstance(name, str) else type(self.environment).__name__

    def reset(self, seed: int | None = None) -> Any:
        """Begins an episode."""
        return self.environment.reset(seed=seed)

    def step(self, action: Any) -> StepResult:
        """Acts once."""
        result: StepResult = self.environment.step(action)
        return result

    def unchecked_step(self) -> StepFunction:
        """The object's `unchecked_step()`, or its `step`."""
        own = getattr(self.environment, "unchecked_step", None)
        step: StepFunction = self.environment.step if own is None else own()
        return step

    def render(self) -> Any:
        """The object's picture, if it has one."""
        own = getattr(self.environment, "render", None)
        return None if own is None else own()

    def get_state(self) -> Any:
        """The object's state, if it has `get_state` and `set_state`."""
        able = hasattr(self.environment, "get_state") and hasattr(self.environment, "set_state")
        return self.environment.get_state() if able else None

    def set_state(self, state: Any) -> Any:
        """Restores a state from `get_state`; returns the state to act on."""
        if not hasattr(self.environment, "set_state"):
            return super().set_state(state)
        return self.environment.set_state(state)

    def terminate(self) -> None:
        """Terminates the object."""
        self.environment.terminate()


class ProtocolAdapter(EnvironmentAdapter):
    """Every object with `reset` and `step` that no other adapter takes."""

    order = 40

    def understands(self, spec: Any) -> bool:
        return not isinstance(spec, type) and resembles_environment(spec)

    def make(self, spec: Any, path: str) -> Environment:
        check_one_agent(spec, path)
        if (fault := explain_class(spec)) is not None:
            raise SpecError(fault, path=path)
        try:
            return ProtocolEnv(spec)
        except SpecError as error:
            raise SpecError(str(error), path=path) from None


def missing_parts(candidate: Any) -> list[str]:
    """The required attributes that `candidate` lacks."""
    return [
        name
        for name in REQUIRED
        if not hasattr(candidate, name) or (name in METHODS and not callable(getattr(candidate, name)))
    ]


def check_one_agent(environment: Any, path: str) -> None:
    """Refuse an environment as PettingZoo defines them, with agents by name and a method for their spaces.

    Raises:
        SpecError: it is one.
    """
    each = (environment, getattr(environment, "unwrapped", None))
    named = any(hasattr(candidate, "possible_agents") for candidate in each)
    if named or callable(getattr(environment, "observation_space", None)):
        raise SpecError(
            f"expected an environment of one agent, given a {type(environment).__name__} of several: if one policy can "
            'act for all of them, write a vector environment with a row for each, as the page "Custom environments '
            'and vectors" shows',
            path=path,
        )
