"""The contract between an environment and everything that acts in it.

`terminated` and `truncated` are two different facts. `terminated`: the state reached is the end of the task,
nothing can be earned after it, its value is zero. `truncated`: the episode was cut for a reason outside the
task (a limit of steps); the value of the state reached is bootstrapped. Both may be true of one step: then
`terminated` decides.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, SupportsFloat, TypeAlias

import numpy as np

from rlgraph.spaces import Space

StepResult: TypeAlias = tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]
StepFunction: TypeAlias = Callable[[Any], StepResult]


class Environment(ABC):
    """One episode at a time: `reset`, then `step` until `terminated or truncated`, then `reset` again.

    States and actions are single ones, without a batch rank: arrays (or scalars) of the shape and dtype of
    `state_space` and `action_space`; dicts and tuples of these where the Space is a container.
    """

    def __init__(self, state_space: Space, action_space: Space) -> None:
        self.state_space = state_space
        self.action_space = action_space

    @property
    def name(self) -> str:
        """What error messages call this environment."""
        return type(self).__name__

    @abstractmethod
    def reset(self, seed: int | None = None) -> Any:
        """Begins an episode and returns its first state; `seed` restarts the environment's random numbers."""

    @abstractmethod
    def step(self, action: Any) -> StepResult:
        """Acts once.

        Returns:
            `(state, reward, terminated, truncated, info)`: the state after the action, a finite number, two
            bools (see the module), and a dict of anything else.

        An environment whose episodes or rewards for learning are not those of the task (Atari: a lost life, clipped
        rewards) says in `info` what the task's are: `episode_return` and `episode_length` in the step that ends
        an episode of the task, `episode_continues: True` in one that ends only an episode for learning.
        Statistics of workers are made of these where they are given.
        """

    def unchecked_step(self) -> StepFunction:
        """The function a vector environment calls instead of `step` once it has checked a whole episode.

        It may leave out checks and hand out states whose dtype the caller still has to cast. It is called
        between a `reset` and the end of the episode only.
        """
        return self.step

    def render(self) -> Any:
        """Shows or returns a picture of the present state; None where the environment has none."""
        return None

    def get_state(self) -> Any:
        """Everything `set_state` needs to go on from here exactly, random numbers included.

        Numbers, strings, arrays, lists and string-keyed dicts of these; None where the environment cannot tell
        (then a run that is resumed begins new episodes).
        """
        return None

    def set_state(self, state: Any) -> Any:
        """Goes back to where `get_state` was called, and returns the state to act on."""
        raise NotImplementedError(f"{self.name} cannot take its state back")

    def terminate(self) -> None:  # noqa: B027 - most environments hold nothing that needs releasing
        """Releases windows, processes and files. The environment is not used afterwards."""

    def __repr__(self) -> str:
        return f"<{self.name}: states {self.state_space!r}, actions {self.action_space!r}>"


def environment_seed(seed: int, index: int, *more: int) -> int:
    """The seed of environment `index` under the root `seed`: 32 bits of its spawned `SeedSequence`.

    Equal to `np.random.SeedSequence(seed).spawn(index + 1)[index].generate_state(1)[0]`, so neighbouring
    roots and neighbouring environments share no stream. `more` tells further resets apart (the number of a
    checkpoint).
    """
    return int(np.random.SeedSequence(seed, spawn_key=(index, *more)).generate_state(1)[0])
