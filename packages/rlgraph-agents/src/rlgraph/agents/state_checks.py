"""Checks of the states that environments give a sampler."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, prod
from typing import Any

import numpy as np

from rlgraph.environments.errors import EnvironmentFault
from rlgraph.environments.masked_states import MaskedStates
from rlgraph.environments.rows import leaves_of
from rlgraph.environments.step_checks import check_finite
from rlgraph.environments.vector_env import VectorEnv
from rlgraph.spaces import FloatBox, Space

#: Python adds up to this many numbers faster than NumPy does.
FEW = 8


class StateChecks:
    """Checks that raw states are finite and, where they have masks, allow an action; counts steps for the messages.

    Args:
        environments: where the states come from.
        masked: the states, if a part of them is a mask.
        at_truncations: whether masks must allow an action in states that a truncation ends.
    """

    def __init__(self, environments: VectorEnv, masked: MaskedStates | None, at_truncations: bool = False):
        self._environments, self._masked, self._at_truncations = environments, masked, at_truncations
        self._look_finite = _look_at(environments.state_space, environments.num_environments)
        #: Steps of all environments, and their number when each episode began.
        self._clock, self._began = 0, np.zeros(environments.num_environments, np.int64)

    @property
    def steps(self) -> np.ndarray:
        """Steps of the running episodes [N]."""
        return self._clock - self._began

    def continue_from(self, steps: Any) -> None:
        """Episodes of these lengths [N] are running."""
        self._began = self._clock - np.asarray(steps)

    def step(self, reached: Any, terminals: np.ndarray, truncations: np.ndarray) -> None:
        """Check the raw states [N, ...] that the next step led to.

        Raises:
            EnvironmentFault: names environment and step.
        """
        self._clock += 1
        if not self._look_finite(reached):
            self._check_finite(reached)
        if self._masked is not None:
            # Nobody acts in the last state of an episode, which a vector class may show until it resets.
            self._check_masks(
                reached, terminals if self._at_truncations else terminals | truncations, truncations
            )

    def begin(self, slots: Any, states: Any = None) -> None:
        """Episodes begin in `slots`; check the raw states [N, ...] to act on, if these are not those of `step`.

        Raises:
            EnvironmentFault: names environment and step.
        """
        self._began[slots] = self._clock
        if states is None:
            return
        if not self._look_finite(states):
            self._check_finite(states)
        if self._masked is not None:
            self._check_masks(states)

    def _place(self, index: int) -> str:
        return f"{self._environments.describe(index)}, step {self.steps[index]}"

    def _check_finite(self, states: Any) -> None:
        for path, rows in leaves_of(states, "state"):
            check_finite(rows, self._place, path)

    def _check_masks(self, states: Any, exempt: Any = None, truncations: Any = None) -> None:
        assert self._masked is not None
        index = self._masked.row_without_actions(states, exempt)
        if index is None:
            return
        fault = "expected at least one legal action in every state that does not end the episode."
        if truncations is not None and truncations[index]:
            fault = (
                "the episode was truncated there, so this agent learns from the values of the actions that would have "
                "followed. Give their mask, or end the episode as terminated."
            )
        raise EnvironmentFault(f"{self._place(index)}: the action mask allows no action: {fault}")


def _look_at(space: Space, number: int) -> Callable[[Any], bool]:
    """A quick check of a batch of states: False if a number may not be finite."""
    if isinstance(space, FloatBox) and number * prod(space.shape) <= FEW:
        return lambda rows: isfinite(sum(rows.ravel().tolist()))
    return _looks_finite


def _looks_finite(rows: Any) -> bool:
    if isinstance(rows, np.ndarray):
        return rows.dtype.kind != "f" or isfinite(np.vdot(rows, rows))
    return all(_looks_finite(part) for part in (rows.values() if isinstance(rows, dict) else rows))
