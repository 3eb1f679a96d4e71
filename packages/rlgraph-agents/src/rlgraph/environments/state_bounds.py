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
        self._is_flat = isinstance(space, FloatBox)
        self._room = min([ROWS, *(NUMBERS // part.box.flat_dim for part in self._parts)])
        #: Copies of each part of the states, their slots, and their time, of each `add`; and the number of the states.
        self._added: list[tuple[list[np.ndarray[Any, Any]], np.ndarray[Any, Any], Any]] = []
        self._waiting = 0
        self._reported: set[tuple[str, int]] = set()

    def __bool__(self) -> bool:
        """Whether any float has a bound."""
        return bool(self._parts)

    def add(self, states: Rows, slots: np.ndarray[Any, Any], time: Any) -> None:
        """Take in states ``[B, ...]`` of these slots ``[B]``."""
        if self._is_flat:
            copies = [states.copy() if type(states) is np.ndarray else np.array(states)]
        else:
            leaves = dict(leaves_of(states, "state"))
            copies = [np.array(leaves[part.name]) for part in self._parts]
        self._added.append((copies, slots, time))
        self._waiting += len(slots)
        if self._waiting >= self._room:
            self.look()

    def look(self) -> None:
        """Report what the states that were added have outside the bounds."""
        added, self._added, self._waiting = self._added, [], 0
        for i, part in enumerate(self._parts if added else ()):
            rows = np.concatenate([copies[i] for copies, _, _ in added]).astype(part.box.dtype, copy=False)
            outside = (rows < part.low) | (rows > part.high)  # NaN is found elsewhere
            if outside.any():
                self._find(part, rows, outside, added)

    def _find(self, part: _Part, rows: Any, outside: np.ndarray[Any, Any], added: list[Any]) -> None:
        slots = np.concatenate([each for _, each, _ in added])
        times = [time for _, each, time in added for _ in each]
        found, numbers = np.nonzero(outside.reshape(len(rows), -1))  # in the order of steps
        bounds = slots[found] * part.box.flat_dim + (0 if part.is_shared else numbers)
        for bound, first in zip(*np.unique(bounds, return_index=True), strict=True):
            if (key := (part.name, int(bound))) not in self._reported:
                self._reported.add(key)
                row, place = found[first], np.unravel_index(numbers[first], part.box.shape)
                low, high = (np.broadcast_to(each, part.box.shape)[place] for each in (part.low, part.high))
                label, exact = self._name_of(int(slots[row])), f"{part.name}{[int(i) for i in place] or ''}"
                self._report(
                    f"{label}: {part.name if part.is_shared else exact}",
                    f"{label}, step {self._step_of(int(slots[row]), times[row])}: {exact} is {rows[row][place]!s}, "
                    f"outside the bounds [{low!s}, {high!s}] of its Space",
                )


class _Part:
    """A part of states with bounds."""

    def __init__(self, name: str, box: FloatBox) -> None:
        self.name, self.box = name, box
        self.low = np.asarray(-np.inf if box.low is None else box.low, box.dtype)
        self.high = np.asarray(np.inf if box.high is None else box.high, box.dtype)
        self.is_shared = not self.low.ndim and not self.high.ndim


def parts_of(space: Space) -> dict[str, Any]:
    """The Spaces of the parts of a state, by the names that messages have."""
    return {f"state/{path}" if path else "state": box for path, box in space.flatten().items()}


def without_float_bounds(space: Space) -> Space:
    """The same Space with floats of every size."""
    return space.map(
        lambda path, box: FloatBox(shape=box.shape, dtype=box.dtype) if isinstance(box, FloatBox) else box
    )
