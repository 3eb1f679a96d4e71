"""Steps that were observed without the states that they led to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rlgraph.experience.nested_arrays import map_arrays, row
from rlgraph.experience.step import VectorStep


@dataclass
class _Waiting:
    """A step of `slots`, and the rows of it whose next states are not known yet."""

    step: VectorStep
    slots: np.ndarray
    unknown: np.ndarray


class PendingSteps:
    """Completes each step with the next state that is observed in its slots; the order of steps stays.

    Steps of several slots wait until the next states of all of them are known.
    """

    def __init__(self) -> None:
        self._waiting: list[_Waiting] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, step: VectorStep, slots: np.ndarray) -> list[tuple[VectorStep, np.ndarray]]:
        """The steps that are complete with this one, with their slots; it may be among them.

        Args:
            step: `next_states` None: not known but where the step is terminal.
            slots: of its rows, each at most once.
        """
        for waiting in self._waiting:
            _, ours, theirs = np.intersect1d(slots, waiting.slots, return_indices=True)
            rows = waiting.unknown[theirs]
            if rows.any():
                _fill(waiting, theirs[rows], row(step.states, ours[rows]))
        unknown = np.zeros(len(slots), bool)
        if step.next_states is None:
            unknown = ~step.terminals
            step = step._replace(next_states=step.states)
        if unknown.any() or self._waiting:  # whoever observes may use the arrays again
            step = VectorStep(*(map_arrays(np.array, column) for column in step))
        self._waiting.append(_Waiting(step, slots, unknown))
        return self._complete()

    def cut(self, slots: Any = None) -> list[tuple[VectorStep, np.ndarray]]:
        """The episodes of `slots` (None: all) end here: steps whose next states are not known are not steps."""
        for waiting in self._waiting:
            lost = waiting.unknown & (True if slots is None else np.isin(waiting.slots, slots))
            if lost.any():
                valid = np.ones(len(lost), bool) if waiting.step.valid is None else waiting.step.valid
                waiting.step = waiting.step._replace(valid=valid & ~lost)
                waiting.unknown = waiting.unknown & ~lost
        return self._complete()

    def get_state(self) -> dict[str, Any]:
        """Copies of what waits; see `set_state`."""
        return {
            f"#{i}": map_arrays(
                np.copy, {**waiting.step._asdict(), "slots": waiting.slots, "unknown": waiting.unknown}
            )
            for i, waiting in enumerate(self._waiting)
        }

    def set_state(self, state: Any) -> None:
        """Continue from what `get_state` gave, as it comes out of a checkpoint: a tuple."""
        self._waiting = []
        for held in state or ():
            fields = {name: value for name, value in held.items() if name not in ("slots", "unknown")}
            self._waiting.append(_Waiting(VectorStep(**fields), held["slots"], held["unknown"]))

    def _complete(self) -> list[tuple[VectorStep, np.ndarray]]:
        """The steps whose next states are all known, but for those after one that waits in a slot of theirs."""
        complete, waiting = [], []
        blocked: set[int] = set()
        for held in self._waiting:
            if held.unknown.any() or blocked.intersection(held.slots.tolist()):
                waiting.append(held)
                blocked.update(held.slots.tolist())
            else:
                complete.append((held.step, held.slots))
        self._waiting = waiting
        return complete


def _fill(waiting: _Waiting, rows: np.ndarray, states: Any) -> None:
    map_arrays(lambda held, given: held.__setitem__(rows, given), waiting.step.next_states, states)
    waiting.unknown[rows] = False


def rounds(slots: np.ndarray) -> list[np.ndarray]:
    """The rows of a batch, in groups in which each slot occurs once: the first row of each slot, the second ..."""
    if len(np.unique(slots)) == len(slots):
        return [np.arange(len(slots))]
    order = np.zeros(len(slots), np.int64)
    seen: dict[int, int] = {}
    for i, slot in enumerate(slots.tolist()):
        order[i] = seen[slot] = seen.get(slot, -1) + 1
    return [np.flatnonzero(order == k) for k in range(int(order.max()) + 1)]
