"""Floats of states outside the bounds of their Space.

They are no fault: declared bounds are often wrong for rare states, which a policy may reach late. Each bound that an
environment leaves is reported once. States are copied and compared many at a time, which is cheap.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np

from rlgraph.core import SpecError
from rlgraph.environments.errors import EnvironmentFault
from rlgraph.environments.rows import Rows, leaves_of
from rlgraph.spaces import FloatBox, Space

P = ParamSpec("P")
R = TypeVar("R")

ROWS, NUMBERS = 256, 2**14
"""States, and numbers of a part of them, that are compared at a time."""

Report: TypeAlias = Callable[[str, str], None]
"""Takes the name of a bound, and a message."""


class StateBoundsWarning(UserWarning):
    """A number of a state was outside the bounds that its Space declares."""


class ReportOnce:
    """Warns of each bound once."""

    def __init__(self) -> None:
        self._reported: set[str] = set()

    def __call__(self, bound: str, message: str) -> None:
        if bound not in self._reported:
            self._reported.add(bound)
            warnings.warn(f"{message}. Each bound is reported once", StateBoundsWarning, stacklevel=1)


def answers_validate(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function answer the argument `validate`, the former name of `validate_states`."""

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        if "validate" in kwargs:
            raise SpecError("the argument is called 'validate_states'", path="validate")
        return function(*args, **kwargs)

    return checked


def refuse(bound: str, message: str) -> None:
    """Report a number as an `EnvironmentFault`."""
    raise EnvironmentFault(f"{message}.")


class StateBounds:
    """Reports the first number outside each bound of each environment. A bound that a whole part shares is one bound.

    Args:
        space: of one state.
        name_of: gives the name of a slot, such as "CartPole-v1, environment 3".
        step_of: gives the step of a slot, from the `time` of `add`.
        report: takes what is found.
    """

    def __init__(
        self, space: Space, name_of: Callable[[int], str], step_of: Callable[[int, Any], int], report: Report
    ) -> None:
        self._name_of, self._step_of, self._report = name_of, step_of, report
        self._parts = [
            _Part(name, box)
            for name, box in parts_of(space).items()
            if isinstance(box, FloatBox) and box.flat_dim and not box.unbounded
        ]
        self._flat = self._parts[0] if self._parts and isinstance(space, FloatBox) else None
        self._room = self._used = 0
        #: The slots and the time of each `add`.
        self._added: list[tuple[np.ndarray[Any, Any], Any]] = []
        self._reported: set[tuple[str, int]] = set()

    def __bool__(self) -> bool:
        """Whether any float has a bound."""
        return bool(self._parts)

    def add(self, states: Rows, slots: np.ndarray[Any, Any], time: Any) -> None:
        """Take in states ``[B, ...]`` of these slots ``[B]``."""
        begin, end = self._used, self._used + len(slots)
        if end > self._room:
            self.look()
            begin, end = 0, len(slots)
            self._make_room(end)
        if self._flat is not None:
            self._flat.rows[begin:end] = states
        else:
            leaves = dict(leaves_of(states, "state"))
            for part in self._parts:
                part.rows[begin:end] = leaves[part.name]
        self._added.append((slots, time))
        self._used = end

    def _make_room(self, rows: int) -> None:
        if rows > self._room:
            self._room = max(rows, min([ROWS, *(NUMBERS // part.size for part in self._parts)]))
            for part in self._parts:
                part.rows = np.zeros((self._room, *part.box.shape), part.box.numpy_dtype)

    def look(self) -> None:
        """Report what the states that were added have outside the bounds."""
        used, added = self._used, self._added
        self._used, self._added = 0, []
        for part in self._parts if used else ():
            rows = part.rows[:used]
            outside = (rows < part.low) | (rows > part.high)  # NaN is found elsewhere
            if outside.any():
                self._find(part, outside.reshape(used, part.size), added)

    def _find(self, part: _Part, outside: np.ndarray[Any, Any], added: list[Any]) -> None:
        slots = np.concatenate([each for each, _ in added])
        when = np.repeat(np.arange(len(added)), [len(each) for each, _ in added])
        rows, numbers = np.nonzero(outside)  # in the order of steps
        bounds = slots[rows] * part.size + (0 if part.is_shared else numbers)
        for bound, first in zip(*np.unique(bounds, return_index=True), strict=True):
            if (key := (part.name, int(bound))) not in self._reported:
                self._reported.add(key)
                row, place = rows[first], np.unravel_index(numbers[first], part.box.shape)
                slot, (low, high) = int(slots[row]), part.bounds_at(place)
                label, exact = self._name_of(slot), f"{part.name}{[int(i) for i in place] or ''}"
                self._report(
                    f"{label}: {part.name if part.is_shared else exact}",
                    f"{label}, step {self._step_of(slot, added[when[row]][1])}: {exact} is {part.rows[row][place]!s}, "
                    f"outside the bounds [{low!s}, {high!s}] of its Space",
                )


class _Part:
    """A part of states with bounds, and its rows that were added."""

    def __init__(self, name: str, box: FloatBox) -> None:
        self.name, self.box, self.size = name, box, box.flat_dim
        self.low = np.asarray(-np.inf if box.low is None else box.low, box.dtype)
        self.high = np.asarray(np.inf if box.high is None else box.high, box.dtype)
        self.is_shared = not self.low.ndim and not self.high.ndim
        self.rows: np.ndarray[Any, Any] = np.zeros(0)

    def bounds_at(self, place: Any) -> list[Any]:
        return [np.broadcast_to(bound, self.box.shape)[place] for bound in (self.low, self.high)]


def parts_of(space: Space) -> dict[str, Any]:
    """The Spaces of the parts of a state, by the names that messages have."""
    return {f"state/{path}" if path else "state": box for path, box in space.flatten().items()}


def without_float_bounds(space: Space) -> Space:
    """The same Space with floats of every size."""
    return space.map(
        lambda path, box: FloatBox(shape=box.shape, dtype=box.dtype) if isinstance(box, FloatBox) else box
    )
