"""The contract between an environment and the code that acts in it.

`terminated` and `truncated` are two different facts. `terminated`: the state reached ends the task, so its value
is zero. `truncated`: the episode was cut for a reason outside the task (a limit of steps), so the value of the
state reached is bootstrapped. If both are true, `terminated` decides.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self, SupportsFloat, TypeAlias

import numpy as np

from rlgraph.core import SpecError
from rlgraph.core.name_hints import NameHints
from rlgraph.environments.option_hints import OF_ENVIRONMENTS
from rlgraph.spaces import Space

StepResult: TypeAlias = tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]
StepFunction: TypeAlias = Callable[[Any], StepResult]

#: Make environments from specs, the last one counts. `rlgraph.environments.factory` knows all kinds and adds its own.
makers: list[Callable[[Any], Environment]] = []


class Environment(NameHints, ABC):
    """One episode at a time: `reset`, then `step` until `terminated or truncated`, then `reset` again.

    States and actions have no batch rank: they are arrays (or scalars) of the shape and dtype of `state_space` and
    `action_space`, and dicts and tuples of these if the Space is a container.
    """

    _name_hints = OF_ENVIRONMENTS

    def __init__(self, state_space: Space, action_space: Space) -> None:
        self.state_space = state_space
        self.action_space = action_space

    @classmethod
    def from_spec(cls, spec: Any) -> Self:
        """An environment of this class from a spec; see `rlgraph.environments.make_environment`.

        Raises:
            SpecError: the spec is wrong, or describes an environment of another class.
        """
        made = makers[-1](spec)
        if not isinstance(made, cls):
            raise SpecError(
                f"expected the spec of a {cls.__name__}, given that of {made!r}", path="environment"
            )
        return made

    @property
    def name(self) -> str:
        """The name of this environment in error messages."""
        return type(self).__name__

    @abstractmethod
    def reset(self, seed: int | None = None) -> Any:
        """Begins an episode and returns its first state; `seed` seeds the environment's random numbers."""

    @abstractmethod
    def step(self, action: Any) -> StepResult:
        """Acts once.

        Returns:
            `(state, reward, terminated, truncated, info)`: the state after the action, a finite number, two
            bools (see the module), and a dict with further information.

        Episodes and rewards for learning may differ from those of the task (Atari: a lost life, clipped rewards).
        Such an environment reports the task's in `info`: `episode_return` and `episode_length` in the step that
        ends an episode of the task, `episode_return: None` in a step that ends only an episode for learning.
        Workers use them for their statistics. An environment whose episodes a worker may end, with its limit of
        steps, reports them in every step.
        """

    def unchecked_step(self) -> StepFunction:
        """The function that a vector environment calls instead of `step` after it has checked a whole episode.

        It may skip checks, and return states that the caller casts to the dtype of the Space (of the same kind:
        float64 for float32). It is called only between a `reset` and the end of the episode.
        """
        return self.step

    def render(self) -> Any:
        """Shows or returns a picture of the current state; None if the environment has none."""
        return None

    def get_state(self) -> Any:
        """Everything that `set_state` needs to continue from here exactly, random numbers included.

        Numbers, strings, arrays, and lists and string-keyed dicts of these; None if the environment does not
        support this (then a resumed run begins new episodes).
        """
        return None

    def set_state(self, state: Any) -> Any:
        """Restores a state from `get_state`; returns the state to act on."""
        raise NotImplementedError(f"{self.name} cannot restore its state")

    def terminate(self) -> None:
        """Releases windows, processes and files; the environment is not used afterwards."""

    def __repr__(self) -> str:
        return f"<{self.name}: states {self.state_space!r}, actions {self.action_space!r}>"


def environment_seed(seed: int, index: int, *more: int) -> int:
    """The seed of environment `index` under the root `seed`: 32 bits of its spawned `SeedSequence`.

    Equal to `np.random.SeedSequence(seed).spawn(index + 1)[index].generate_state(1)[0]`, so that neighbouring
    roots and environments share no stream. `more` distinguishes further resets (the number of a checkpoint).
    """
    return int(np.random.SeedSequence(seed, spawn_key=(index, *more)).generate_state(1)[0])


def resembles_environment(candidate: Any) -> bool:
    """Whether an object or a class has the methods `reset` and `step`."""
    return all(callable(getattr(candidate, name, None)) for name in ("reset", "step"))
