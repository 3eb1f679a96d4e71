"""States together with the action and the reward of the step before them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.core import SpecError
from rlgraph.environments.masked_states import OBSERVATION
from rlgraph.spaces import Dict, FloatBox, Space, TextBox

#: The part of states that is the action and the reward of the step before.
PREVIOUS = "previous"


class PreviousSteps:
    """The action and the reward of the step before a state as floats; categories are one-hot.

    Args:
        states: one state without them, as the policy would see it.
        actions: one action.

    Attributes:
        size: number of these floats; those of the action come first, in the order of its parts.
        space: of one state as records have it.
        input_space: of one state as the policy sees it: a vector where states are one, else a Dict.

    Raises:
        SpecError: a part of the actions is text.
    """

    def __init__(self, states: Space, actions: Space):
        self._actions = actions
        for box in actions.flatten().values():
            if isinstance(box, TextBox):
                raise SpecError(
                    f"expected false: text is no input of a network, given actions {actions!r}",
                    path="previous_action_and_reward",
                )
        self.size = 1 + sum(box.flat_dim_with_categories for box in actions.flatten().values())
        previous = FloatBox(shape=(self.size,))
        self.space = Dict({OBSERVATION: states, PREVIOUS: previous})
        self.is_flat = isinstance(states, FloatBox) and states.rank == 1
        self.input_space: Space = self.space
        if isinstance(states, FloatBox) and self.is_flat:
            self.input_space = FloatBox(shape=(states.shape[0] + self.size,))

    def after(self, actions: Any, dtype: str) -> np.ndarray:
        """``actions [N, ...]`` as floats ``[N, size]``, with 0 for the rewards, which are not known yet."""
        taken, columns = self._actions.flatten_sample(actions), []
        for path, box in self._actions.flatten().items():
            part = np.asarray(taken[path])
            if box.num_categories is not None:
                part = part[..., np.newaxis] == np.arange(box.num_categories)
            columns.append(part.reshape(len(part), -1))
        return np.concatenate([*columns, np.zeros((len(columns[0]), 1))], axis=1).astype(dtype)
