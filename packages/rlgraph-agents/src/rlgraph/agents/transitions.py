"""From steps to transitions of a memory: what waits for its next state, and sums of n rewards.

A transition is ``(s_t, a_t, r_t + g r_t+1 + .. + g^(k-1) r_t+k-1, terminal, s_t+k, g^k)`` with ``k = n`` inside of an
episode, and smaller at its end (Sutton and Barto, 2018, section 7.1). An episode that terminated ends it without a
value behind; one that was cut, a truncation, is bootstrapped there, with the power of g that belongs to k.

The rule stands here twice, in the forms in which steps come: `Window` takes one step of an environment after the
other, `n_step_transitions` batches of fragments.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rlgraph.agents.nested_arrays import length, map_arrays, row, rows, stack
from rlgraph.core.errors import InputError


class Transition(NamedTuple):
    """What goes into a memory; `discount` is what the value of the next state is multiplied by."""

    state: Any
    action: Any
    reward: float
    terminal: bool
    next_state: Any
    discount: float


class Step(NamedTuple):
    """One step of one environment; `next_state` may be None: the next step observed there brings it."""

    state: Any
    action: Any
    reward: float
    terminal: bool
    truncated: bool
    next_state: Any


def rows_of(
    states: Any,
    actions: Any,
    rewards: np.ndarray,
    terminals: np.ndarray,
    truncations: np.ndarray,
    next_states: Any,
) -> list[Step]:
    """The rows of columns, copied: whoever observes may use the arrays again. `next_states` may be None."""

    columns = [map_arrays(np.array, batch) for batch in (states, actions)]
    if next_states is None:
        columns.append([None] * len(rewards))
    else:
        columns.append(map_arrays(np.array, next_states))
    seen, done, reached = (rows(column, len(rewards)) for column in columns)
    ends = (rewards.tolist(), terminals.tolist(), truncations.tolist())
    return [Step(*step) for step in zip(seen, done, *ends, reached, strict=True)]


class Window:
    """The last steps of one environment that are no records yet: at most n, and one that waits for its next state."""

    __slots__ = ("_discount", "_n_step", "_next_state", "_steps", "_waiting")

    def __init__(self, n_step: int, discount: float):
        self._n_step, self._discount = n_step, discount
        self._steps: deque[list[Any]] = deque()
        self._waiting: Step | None = None
        self._next_state: Any = None

    def __bool__(self) -> bool:
        return bool(self._steps) or self._waiting is not None

    def add(self, step: Step) -> list[Transition]:
        """Take in `step`; the transitions that are complete with it.

        Raises:
            InputError: a truncated step without its next state: the step behind it is of another episode.
        """
        records = [] if self._waiting is None else self._advance(self._waiting, step.state)
        self._waiting = None
        if step.terminal:
            return records + self._advance(step, step.state if step.next_state is None else step.next_state)
        if step.next_state is None:
            if step.truncated:
                raise InputError("a truncated step needs its next_state: the next step is of another episode")
            self._waiting = step
            return records
        return records + self._advance(step, step.next_state)

    def flush(self) -> list[Transition]:
        """The episode was cut behind the last state that is known: its shorter windows; nothing is left."""
        next_state = self._next_state if self._waiting is None else self._waiting.state
        records = [self._record(entry, False, next_state) for entry in self._steps]
        self._steps.clear()
        self._waiting = self._next_state = None
        return records

    def _advance(self, step: Step, next_state: Any) -> list[Transition]:
        self._steps.append([step.state, step.action, 0.0, 1.0])
        for entry in self._steps:
            entry[2] += entry[3] * step.reward
            entry[3] *= self._discount
        self._next_state = next_state
        if step.terminal or step.truncated:
            records = [self._record(entry, step.terminal, next_state) for entry in self._steps]
            self._steps.clear()
            return records
        if len(self._steps) == self._n_step:
            return [self._record(self._steps.popleft(), False, next_state)]
        return []

    @staticmethod
    def _record(entry: list[Any], terminal: bool, next_state: Any) -> Transition:
        state, action, reward, discount = entry
        return Transition(state, action, reward, terminal, next_state, discount)


class TransitionBuffers:
    """One `Window` per environment; complete transitions are inserted at once.

    Not safe by itself where several threads add: whoever owns it holds a lock.

    Args:
        insert: takes the columns ``states, actions, rewards, terminals, next_states``, and ``discounts`` where
            `n_step` is above 1, each with a batch rank.
        n_step: rewards summed into one transition.
        discount: discount factor of one step.
        dtype: of rewards and discounts.

    Raises:
        InputError: `n_step` is no integer of at least 1.
    """

    def __init__(self, insert: Callable[..., Any], n_step: int, discount: float, dtype: str):
        if not isinstance(n_step, int | np.integer) or n_step < 1:
            raise InputError(f"TransitionBuffers: n_step: expected an integer >= 1, given {n_step!r}")
        self._insert, self._n_step, self._discount, self._dtype = insert, n_step, discount, dtype
        #: What waits, by environment.
        self.windows: dict[str, Window] = {}

    def add(self, steps: Sequence[Step], env_ids: Sequence[str]) -> None:
        """Take in ``steps[i]`` of environment ``env_ids[i]``; those of the same one follow each other.

        Raises:
            InputError: they are not equally many, or no lists.
        """
        if isinstance(steps, Step) or isinstance(env_ids, str) or len(steps) != len(env_ids):
            raise InputError(
                "TransitionBuffers.add: expected a list of steps and one with the environment of each, given "
                f"{steps!r} and {env_ids!r}"
            )
        records: list[Transition] = []
        for step, env_id in zip(steps, env_ids, strict=True):
            window = self.windows.get(env_id) or Window(self._n_step, self._discount)
            records += window.add(step)
            if window:
                self.windows[env_id] = window
            else:
                self.windows.pop(env_id, None)
        self._put(records)

    def flush(self, env_ids: Iterable[str] | None = None) -> None:
        """Cut the episodes of these environments, or of all, as truncations; see `Window.flush`."""
        records: list[Transition] = []
        for env_id in list(self.windows) if env_ids is None else env_ids:
            if window := self.windows.pop(env_id, None):
                records += window.flush()
        self._put(records)

    def drop(self, env_ids: Iterable[str] | None = None) -> None:
        """Throw away what waits of these environments, or of all."""
        for env_id in list(self.windows) if env_ids is None else env_ids:
            self.windows.pop(env_id, None)

    def _put(self, records: Sequence[Transition]) -> None:
        if not records:
            return
        states, actions, rewards, terminals, next_states, discounts = zip(*records, strict=True)
        columns = [
            stack(states),
            stack(actions),
            np.array(rewards, self._dtype),
            np.array(terminals),
            stack(next_states),
        ]
        if self._n_step > 1:
            columns.append(np.array(discounts, self._dtype))
        self._insert(*columns)


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
    rows = np.arange(length(rewards))
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
