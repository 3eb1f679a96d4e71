"""Sums of n rewards: from steps to transitions.

A transition is ``(s_t, a_t, r_t + g r_t+1 + .. + g^(k-1) r_t+k-1, terminal, s_t+k, g^k)`` with ``k = n`` within an
episode and smaller at its end (Sutton and Barto, 2018, section 7.1). After a terminal state there is no value; a
truncated episode is bootstrapped from the state that it reached, with the power of g that belongs to k.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rlgraph.agents.experience.step import VectorStep
from rlgraph.agents.nested_arrays import map_arrays


class Transitions(NamedTuple):
    """Transitions ``[B]``; `discounts` is the factor of the value of `next_states`."""

    states: Any
    actions: Any
    rewards: np.ndarray
    terminals: np.ndarray
    next_states: Any
    discounts: np.ndarray


class NStepWindows:
    """The last steps of each slot that are not transitions yet: at most ``n_step - 1`` between two steps.

    Args:
        n_step: number of rewards of a transition.
        discount: discount factor of one step.
        dtype: of rewards and discounts.
    """

    def __init__(self, n_step: int, discount: float, dtype: str):
        self.n_step = n_step
        self._powers = (discount ** np.arange(n_step + 1)).astype(dtype)
        #: Steps of each slot so far, [N]; a step is in the rings at this number modulo `n_step`.
        self._clock = np.zeros(0, np.int64)
        #: Steps of each slot that wait, [N].
        self._waiting = np.zeros(0, np.int64)
        self._states: Any = None
        self._actions: Any = None
        self._rewards = np.zeros((n_step, 0), dtype)

    def add(self, step: VectorStep) -> list[Transitions]:
        """The transitions that are complete with `step`, those of the longest windows first."""
        number = len(step.rewards)
        if self._states is None or number != len(self._waiting):
            self._allocate(step, number)
        at = self._clock % self.n_step, np.arange(number)
        map_arrays(lambda ring, rows: ring.__setitem__(at, rows), self._states, step.states)
        map_arrays(lambda ring, rows: ring.__setitem__(at, rows), self._actions, step.actions)
        self._rewards[at] = step.rewards
        passed = 1 if step.valid is None else step.valid
        self._clock += passed
        self._waiting += passed
        ends = step.terminals | step.truncations
        if step.valid is not None:
            ends = ends & step.valid
        if not ends.any():
            ready = np.flatnonzero(self._waiting == self.n_step)
            self._waiting[ready] -= 1
            return [self._transitions(ready, self.n_step, step)] if len(ready) else []
        found = []
        for length in range(self.n_step, 0, -1):
            due = self._waiting == self.n_step if length == self.n_step else ends & (self._waiting >= length)
            if len(slots := np.flatnonzero(due)):
                found.append(self._transitions(slots, length, step))
        self._waiting[self._waiting == self.n_step] -= 1
        self._waiting[ends] = 0
        return found

    def cut(self, slots: Sequence[int] | np.ndarray | None, next_states: Any) -> list[Transitions]:
        """The waiting steps of `slots` (None: all), whose episodes were cut where they reached `next_states [N]`."""
        number = len(self._waiting)
        chosen = np.zeros(number, bool)
        chosen[slice(None) if slots is None else slots] = True
        nowhere = np.zeros(number, bool)
        reached = VectorStep(None, None, nowhere, nowhere, nowhere, next_states, nowhere)
        found = [
            self._transitions(due, length, reached)
            for length in range(self.n_step - 1, 0, -1)
            if len(due := np.flatnonzero(chosen & (self._waiting >= length)))
        ]
        self._waiting[chosen] = 0
        return found

    def drop(self, slots: Sequence[int] | None = None) -> None:
        """Forget the waiting steps of `slots` (None: all)."""
        self._waiting[slice(None) if slots is None else slots] = 0

    def get_state(self) -> dict[str, Any]:
        """Copies of everything that waits; see `set_state`."""
        return {
            "clock": self._clock.copy(),
            "waiting": self._waiting.copy(),
            "states": map_arrays(np.copy, self._states),
            "actions": map_arrays(np.copy, self._actions),
            "rewards": self._rewards.copy(),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from what `get_state` gave."""
        self._clock, self._waiting = state["clock"].copy(), state["waiting"].copy()
        self._states, self._actions = (map_arrays(np.copy, state.get(x)) for x in ("states", "actions"))
        self._rewards = state["rewards"].copy()

    def _allocate(self, step: VectorStep, number: int) -> None:
        """Room for other slots; what waited of the former ones is lost."""
        self._clock, self._waiting = np.zeros(number, np.int64), np.zeros(number, np.int64)
        self._states, self._actions = (
            map_arrays(lambda rows: np.empty((self.n_step, *np.shape(rows)), np.asarray(rows).dtype), rows)
            for rows in (step.states, step.actions)
        )
        self._rewards = np.zeros((self.n_step, number), self._rewards.dtype)

    def _transitions(self, slots: np.ndarray, length: int, last: VectorStep) -> Transitions:
        """The transitions of the last `length` steps of `slots`; `last` says where they led."""
        first = self._clock[slots] - length
        rewards = np.zeros(len(slots), self._rewards.dtype)
        for k in range(length):
            rewards += self._powers[k] * self._rewards[(first + k) % self.n_step, slots]
        return Transitions(
            map_arrays(lambda ring: ring[first % self.n_step, slots], self._states),
            map_arrays(lambda ring: ring[first % self.n_step, slots], self._actions),
            rewards,
            last.terminals[slots],
            map_arrays(lambda rows: rows[slots], last.next_states),
            np.full(len(slots), self._powers[length]),
        )
