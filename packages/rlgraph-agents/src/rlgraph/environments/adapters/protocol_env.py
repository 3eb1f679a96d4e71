"""The adapter for classes that implement the protocol of environments without inheriting from `Environment`."""

from __future__ import annotations

from typing import Any

from rlgraph.core.errors import SpecError
from rlgraph.environments.environment import Environment, StepFunction, StepResult
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


def missing_parts(candidate: Any) -> list[str]:
    """The required attributes that `candidate` lacks."""
    methods = missing_methods(candidate)
    return [name for name in REQUIRED if name in methods or not hasattr(candidate, name)]


def missing_methods(candidate: Any) -> list[str]:
    """The methods of the protocol that an object or a class lacks."""
    return [name for name in METHODS if not callable(getattr(candidate, name, None))]


def resembles_environment(candidate: Any) -> bool:
    """Whether an object (not a class) looks like an environment: it has `step` and `reset`."""
    return not isinstance(candidate, type) and all(
        callable(getattr(candidate, name, None)) for name in ("reset", "step")
    )
