"""The contract of several environments behind one `reset` and one `step`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from rlgraph.environments.rows import Rows
from rlgraph.spaces import Space

VectorStepResult: TypeAlias = tuple[
    Rows, np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any], Sequence[dict[str, Any]]
]


class VectorEnv(ABC):
    """N environments with equal Spaces, with a batch rank on everything.

    **Ends.** Where `terminated[i] or truncated[i]`, environment `i` has already been reset: row `i` of the
    states returned is the first of its next episode, to act on. The state the step really led to, to learn
    from and to bootstrap a truncation with, is row `i` of `final_states`; `finished` lists these `i`.

    **Restarts.** An environment that crashed or hung has been replaced and reset: `dropped` lists it. Row `i` of
    the states is the first of a new episode, the rest of row `i` means nothing: it is no transition, and what was
    gathered of its episode is to be thrown away. `restarts` counts them.

    **Resets that take a step.** A vectorised class of Gymnasium may reset in the step after an end and ignore that
    step's action (`AutoresetMode.NEXT_STEP`). Row `i` of the states of an end is then the final state once more, and
    row `i` of the next step is no transition: `dropped` lists it, and so does `idle`, which tells it from a restart.

    **Buffers.** What `reset` or `step` returns stays as it is during the next `step` and may be overwritten by
    the one after.

    Attributes:
        num_environments: N.
        state_space, action_space: of one environment, without batch rank.
        finished: the environments whose episode ended in the last step, ascending.
        dropped: those whose row of the last step is no transition, ascending: restarted or idle.
        idle: those of them that did not act because they were reset, in the way they work.
        restarts: how many restarts there were so far.
    """

    num_environments: int
    state_space: Space
    action_space: Space
    finished: list[int]
    dropped: Sequence[int] = ()
    idle: Sequence[int] = ()
    restarts: int = 0

    @abstractmethod
    def reset(self, seed: int | None = None) -> Rows:
        """Begins an episode in every environment, also where one is under way.

        Args:
            seed: a root seed; environment `i` is given `environment_seed(seed, i)`. None: their random
                numbers go on.

        Returns:
            The first states: `state_space` with a batch rank, `[N, ...]`.
        """

    @abstractmethod
    def step(self, actions: Any) -> VectorStepResult:
        """Acts once in every environment and resets those that finish.

        Args:
            actions: `action_space` with a batch rank, `[N, ...]`.

        Returns:
            `(states, rewards, terminated, truncated, infos)`: the states to act on next `[N, ...]`, `[N]`
            float32, `[N]` bool, `[N]` bool, and the N dicts of the environments.

        Raises:
            EnvironmentFault: the contract of an environment is broken; names it and the step.
        """

    @property
    @abstractmethod
    def final_states(self) -> Rows:
        """The states the last step led to, before any reset, `[N, ...]`."""

    @abstractmethod
    def describe(self, index: int) -> str:
        """What messages call environment `index`."""

    def render(self, index: int = 0) -> Any:
        """A picture of one of the environments; None where it has none."""
        return None

    def get_states(self) -> list[Any] | None:
        """The whole inner state of each environment, for `set_states`; None if one of them cannot give it."""
        return None

    def set_states(self, states: Sequence[Any]) -> Rows:
        """Puts every environment where `get_states` found it; returns the states to act on `[N, ...]`."""
        raise NotImplementedError(f"{type(self).__name__} cannot take the state of its environments")

    @abstractmethod
    def terminate(self) -> None:
        """Releases everything. The environments are not used afterwards."""
