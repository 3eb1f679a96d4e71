"""The contract of vector environments: N environments with one `reset` and one `step`."""

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
    """N environments with equal Spaces; all values have a batch rank.

    **Ends.** If `terminated[i] or truncated[i]`, environment `i` has already been reset: row `i` of the returned
    states is the first state of its next episode, to act on. The state that the step led to, to learn from and to
    bootstrap a truncation with, is row `i` of `final_states`. `finished` lists these `i`.

    **Restarts.** An environment that crashed or hung has been replaced and reset; `dropped` lists it and `restarts`
    counts it. Row `i` of the states is the first state of a new episode. The rest of row `i` is not a transition,
    and the unfinished part of its episode must be discarded.

    **Resets that take a step.** A vector class of Gymnasium may reset in the step after an end and ignore that
    step's action (`AutoresetMode.NEXT_STEP`). Row `i` of the returned states then repeats the final state, and row
    `i` of the next step is not a transition: `dropped` and `idle` list it (`idle` does not list restarts).

    **Buffers.** The arrays that `reset` or `step` returns are valid until the end of the next `step`; the one after
    may overwrite them.

    Attributes:
        num_environments: N.
        state_space, action_space: of one environment, without batch rank.
        final_states: the states that the last step led to, before any reset, `[N, ...]`; valid as long as those that it
            returned. If no episode ended, these are the returned states, in the same arrays.
        finished: environments whose episode ended in the last step, ascending.
        dropped: environments whose row of the last step is not a transition, ascending: restarted or idle.
        idle: those of `dropped` that were reset instead of acting.
        restarts: number of restarts so far.
        validate_states: whether floats of states outside their bounds are errors, not warnings, where a sampler acts.
    """

    num_environments: int
    state_space: Space
    action_space: Space
    final_states: Rows
    finished: list[int]
    dropped: Sequence[int] = ()
    idle: Sequence[int] = ()
    restarts: int = 0
    validate_states: bool = False

    @abstractmethod
    def reset(self, seed: int | None = None) -> Rows:
        """Begins an episode in every environment, also if one is running.

        Args:
            seed: a root seed; environment `i` gets `environment_seed(seed, i)`. None: random numbers continue.

        Returns:
            The first states: `state_space` with a batch rank, `[N, ...]`.
        """

    @abstractmethod
    def step(self, actions: Any) -> VectorStepResult:
        """Acts once in every environment and resets those whose episode ends.

        Args:
            actions: `action_space` with a batch rank, `[N, ...]`.

        Returns:
            `(states, rewards, terminated, truncated, infos)`: the states to act on next `[N, ...]`, `[N]`
            float32, `[N]` bool, `[N]` bool, and the N dicts of the environments.

        Raises:
            EnvironmentFault: an environment breaks its contract or fails; names it and the step.
        """

    @abstractmethod
    def describe(self, index: int) -> str:
        """The name of environment `index` in messages."""

    def render(self, index: int = 0) -> Any:
        """A picture of one environment; None if it has none."""
        return None

    def get_states(self) -> list[Any] | None:
        """The inner state of each environment, for `set_states`; None if one does not support this."""
        return None

    def set_states(self, states: Sequence[Any]) -> Rows:
        """Restores the states from `get_states`; returns the states to act on `[N, ...]`."""
        raise NotImplementedError(f"{type(self).__name__} cannot restore the states of its environments")

    @abstractmethod
    def terminate(self) -> None:
        """Releases everything; the environments are not used afterwards."""
