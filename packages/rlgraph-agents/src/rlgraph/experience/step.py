"""One step of several environments, as an actor and its environments give it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rlgraph.experience.nested_arrays import row


class VectorStep(NamedTuple):
    """One step of N environments, one in each slot; every field has the batch rank ``[N]`` first.

    The arrays may be used again for the next step: whoever keeps one copies it.

    Attributes:
        states: the states that the algorithm acted on.
        actions: what it chose.
        rewards: what came of it.
        terminals: where the episode ended in a terminal state, which has no value.
        truncations: where the episode was cut for a reason outside the task.
        next_states: the states that the step led to, before any reset.
        begins: where `states` begins an episode.
        valid: where the row is a step; None: everywhere. Other rows come from environments that were lost, or that
            only reset themselves.
        internal_states: the states of recurrent networks before the step; None: there are none.
        remembered: what else acting knew, by name.
    """

    states: Any
    actions: Any
    rewards: np.ndarray
    terminals: np.ndarray
    truncations: np.ndarray
    next_states: Any
    begins: np.ndarray
    valid: np.ndarray | None = None
    internal_states: Any = None
    remembered: Any = None

    def of_rows(self, rows: np.ndarray) -> VectorStep:
        """The step of some of the slots."""
        chosen: list[Any] = [None if column is None else row(column, rows) for column in self]
        return VectorStep(*chosen)
