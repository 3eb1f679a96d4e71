"""Sums of n rewards: from steps to transitions.

A transition is ``(s_t, a_t, r_t + g r_t+1 + .. + g^(k-1) r_t+k-1, terminal, s_t+k, g^k)`` with ``k = n`` within an
episode and smaller at its end (Sutton and Barto, 2018, section 7.1). After a terminal state there is no value; a
truncated episode is bootstrapped from the state that it reached, with the power of g that belongs to k.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rlgraph.core import InputError
from rlgraph.experience.nested_arrays import flatten_arrays, map_arrays, row
from rlgraph.experience.step import VectorStep


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
        #: What the last step of each slot led to, [N, ...].
        self._reached: Any = None

    def add(self, step: VectorStep, slots: np.ndarray | None = None) -> list[Transitions]:
        """The transitions that are complete with `step`, those of the longest windows first.

        Args:
            step: its rows may be of any slots, each at most once.
            slots: the slot of each row; None: all in order.
        """
        rows = np.arange(len(step.rewards))
        slots = rows if slots is None else slots
        if step.valid is not None:
            rows, slots = rows[step.valid], slots[step.valid]
            step = step.of_rows(rows)
            rows = np.arange(len(rows))
        if not len(rows):
            return []
        if len(self._waiting) <= (last := int(slots.max())):
            self._make_room(step, last + 1)
        at = self._clock[slots] % self.n_step, slots
        map_arrays(lambda ring, given: ring.__setitem__(at, given), self._states, step.states)
        map_arrays(lambda ring, given: ring.__setitem__(at, given), self._actions, step.actions)
        map_arrays(lambda held, given: held.__setitem__(slots, given), self._reached, step.next_states)
        self._rewards[at] = step.rewards
        self._clock[slots] += 1
        waiting = self._waiting[slots] + 1
        ends = step.terminals | step.truncations
        found = []
        for length in range(self.n_step, 0, -1):
            due = waiting == self.n_step if length == self.n_step else ends & (waiting >= length)
            if len(ready := np.flatnonzero(due)):
                found.append(self._transitions(slots[ready], length, step.terminals[ready]))
            if not np.count_nonzero(ends):
                break
        waiting[waiting == self.n_step] -= 1
        waiting[ends] = 0
        self._waiting[slots] = waiting
        return found

    def cut(self, slots: Sequence[int] | np.ndarray | None = None) -> list[Transitions]:
        """The waiting steps of `slots` (None: all), whose episodes were cut after their last step."""
        chosen = np.arange(len(self._waiting)) if slots is None else self._held(slots)
        found = [
            self._transitions(due, length, np.zeros(len(due), bool))
            for length in range(self.n_step - 1, 0, -1)
            if len(due := chosen[self._waiting[chosen] >= length])
        ]
        self._waiting[chosen] = 0
        return found

    def drop(self, slots: Sequence[int] | np.ndarray | None = None) -> None:
        """Forget the waiting steps of `slots` (None: all)."""
        self._waiting[slice(None) if slots is None else self._held(slots)] = 0

    def get_state(self) -> dict[str, Any]:
        """Copies of everything that waits; see `set_state`."""
        held = {"clock": self._clock, "waiting": self._waiting, "rewards": self._rewards}
        nested = {"states": self._states, "actions": self._actions, "reached": self._reached}
        return {name: map_arrays(np.copy, value) for name, value in {**held, **nested}.items()}

    def set_state(self, state: Mapping[str, Any] | None) -> None:
        """Continue from what `get_state` gave; what waited for another number of steps is lost."""
        if state is None or len(state["rewards"]) != self.n_step:
            self.drop()
            return
        names = ("clock", "waiting", "rewards", "states", "actions", "reached")
        for name in names:
            setattr(self, f"_{name}", map_arrays(np.copy, state.get(name)))

    def _held(self, slots: Sequence[int] | np.ndarray) -> np.ndarray:
        """Those of `slots` that have had a step."""
        chosen = np.asarray(slots, np.int64)
        return chosen[chosen < len(self._waiting)]

    def _make_room(self, step: VectorStep, number: int) -> None:
        """Room for `number` slots; what waits stays."""

        def grown(held: np.ndarray, axis: int) -> np.ndarray:
            more = [(0, 0)] * held.ndim
            more[axis] = (0, number - held.shape[axis])
            return np.pad(held, more)

        def empty(given: np.ndarray, *leading: int) -> np.ndarray:
            return np.zeros((*leading, *given.shape[1:]), given.dtype)

        if self._reached is None:
            ring = lambda given: empty(np.asarray(given), self.n_step, 0)  # noqa: E731
            self._states, self._actions = map_arrays(ring, step.states), map_arrays(ring, step.actions)
            self._reached = map_arrays(lambda given: empty(np.asarray(given), 0), step.next_states)
        self._clock, self._waiting = grown(self._clock, 0), grown(self._waiting, 0)
        self._states, self._actions, self._rewards = (
            map_arrays(lambda held: grown(held, 1), rings)
            for rings in (self._states, self._actions, self._rewards)
        )
        self._reached = map_arrays(lambda held: grown(held, 0), self._reached)

    def _transitions(self, slots: np.ndarray, length: int, terminals: np.ndarray) -> Transitions:
        """The transitions of the last `length` steps of `slots`."""
        first = self._clock[slots] - length
        rewards = np.zeros(len(slots), self._rewards.dtype)
        for k in range(length):
            rewards += self._powers[k] * self._rewards[(first + k) % self.n_step, slots]
        return Transitions(
            map_arrays(lambda ring: ring[first % self.n_step, slots], self._states),
            map_arrays(lambda ring: ring[first % self.n_step, slots], self._actions),
            rewards,
            terminals,
            map_arrays(lambda held: held[slots], self._reached),
            np.full(len(slots), self._powers[length]),
        )


def check_consecutive(method: str, batch: Mapping[str, Any], ends: np.ndarray) -> None:
    """Check that each row of a fragment leads to the next one, where ``next_states`` are given.

    Args:
        method: named in errors.
        batch, ends: as of `n_step_transitions`.

    Raises:
        InputError: one does not: sums of rewards would join two episodes.
    """
    if "next_states" not in batch:
        return
    goes_on = ~(ends | np.asarray(batch["terminals"], bool))[:-1]
    for path, reached in flatten_arrays(batch["next_states"]).items():
        following = flatten_arrays(batch["states"])[path][1:]
        differs = (reached[:-1] != following).reshape(len(following), -1).any(axis=1) & goes_on
        if differs.any():
            index = int(np.argmax(differs))
            raise InputError(
                f"{method}: expected next_states of row {index} to be the states of row {index + 1}, since row {index} "
                "ends no episode, given others: mark the last row of each episode that was cut, with truncations or "
                "sequence_indices"
            )


def n_step_transitions(
    batch: Mapping[str, Any], ends: np.ndarray, n_step: int, discount: float
) -> dict[str, Any]:
    """Transitions of the rows of fragments: batches whose rows are consecutive steps.

    A row whose next state nobody knows, the last of a fragment that goes on, is left out.

    Args:
        batch: ``states, actions, rewards, terminals`` [B, ...], and ``next_states`` [B, ...] or none: the next rows.
        ends: rows behind which another fragment begins [B] bool; a terminal row and the last one are such in any case.
        n_step: rewards summed into one transition.
        discount: discount factor of one step.

    Returns:
        ``states, actions, rewards, terminals, next_states``, and ``discounts`` [B'] if `n_step` is above 1; the other
        columns of `batch` for the rows that are left.
    """
    rewards, terminals = np.asarray(batch["rewards"]), np.asarray(batch["terminals"], bool)
    rows = np.arange(len(rewards))
    ends = np.asarray(ends, bool) | terminals
    ends[-1:] = True
    # The last row of the fragment that each row belongs to.
    last = np.flatnonzero(ends)[np.cumsum(ends) - ends]
    known = np.full(len(rows), "next_states" in batch) | terminals
    count = np.minimum(n_step, last - rows + known[last])
    returns, discounts = np.zeros(len(rows)), np.ones(len(rows))
    for step in range(n_step):
        inside = step < count
        returns += np.where(inside, discounts * rewards[np.where(inside, rows + step, 0)], 0.0)
        discounts = np.where(inside, discounts * discount, discounts)
    kept = count > 0
    final = (rows + count - 1)[kept]
    if "next_states" in batch:
        next_states = row(batch["next_states"], final)
    else:
        next_states = row(
            batch["states"], np.where(terminals[final], final, final + 1).clip(max=len(rows) - 1)
        )
    left = {name: row(values, kept) for name, values in batch.items() if name != "next_states"}
    left["rewards"] = returns[kept].astype(rewards.dtype)
    left["terminals"], left["next_states"] = terminals[final], next_states
    return {**left, "discounts": discounts[kept].astype(rewards.dtype)} if n_step > 1 else left
