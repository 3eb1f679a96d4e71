"""Floats of states outside the bounds of their Space.

They are no fault: declared bounds are often wrong for rare states, which a policy may reach late. Each bound that an
environment leaves is reported once.
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

Report: TypeAlias = Callable[[str, str], None]
"""Takes the name of a bound, and a message."""


#: Up to this many numbers are compared faster in Python.
_FEW = 8


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
        step_of: gives the present step of a slot.
        report: takes what is found.
    """

    def __init__(
        self, space: Space, name_of: Callable[[int], str], step_of: Callable[[int], int], report: Report
    ) -> None:
        self._name_of, self._step_of, self._report = name_of, step_of, report
        self._parts = [
            _Part(name, box)
            for name, box in parts_of(space).items()
            if isinstance(box, FloatBox) and box.flat_dim and not box.unbounded
        ]

    def check_of(self, name: str) -> Callable[[np.ndarray[Any, Any]], bool] | None:
        """Whether the rows ``[B, ...]`` of a part, of the first slots, are finite and inside the bounds.

        None: the part has no bounds.
        """
        return next((part.holds for part in self._parts if part.name == name), None)

    def look(self, states: Rows, slots: slice | np.ndarray[Any, Any]) -> None:
        """Report what states ``[B, ...]`` of these slots ``[B]`` have outside the bounds."""
        for part in self._parts:
            rows = states if part.name == "state" else dict(leaves_of(states, "state"))[part.name]
            if isinstance(slots, slice) and part.holds(rows):
                continue
            low, high = part.bounds_of(slots)
            outside = (rows < low) | (rows > high)  # NaN is found elsewhere
            if np.count_nonzero(outside):
                self._find(part, rows, outside.reshape(len(rows), -1), np.arange(len(part.low))[slots])

    def _find(self, part: _Part, states: Any, outside: np.ndarray[Any, Any], slots: Any) -> None:
        rows, numbers = np.nonzero(outside)
        bounds = slots[rows] * part.size + (0 if part.is_shared else numbers)
        for first in np.unique(bounds, return_index=True)[1]:
            slot, place = int(slots[rows[first]]), np.unravel_index(numbers[first], part.shape)
            bound = (slot, *((0,) * len(place) if part.is_shared else place))
            label, exact = self._name_of(slot), f"{part.name}{[int(i) for i in place] or ''}"
            self._report(
                f"{label}: {part.name if part.is_shared else exact}",
                f"{label}, step {self._step_of(slot)}: {exact} is {states[rows[first]][place]!s}, "
                f"outside the bounds [{part.low[bound]!s}, {part.high[bound]!s}] of its Space",
            )
            part.low[bound], part.high[bound] = -np.inf, np.inf
            part.finite = None


class _Part:
    """A part of states, and its bounds ``[slots, ...]``: infinite ones after they were reported."""

    def __init__(self, name: str, box: FloatBox) -> None:
        self.name, self.shape, self.size = name, box.shape, box.flat_dim
        given = [-np.inf if box.low is None else box.low, np.inf if box.high is None else box.high]
        self.is_shared = not any(map(np.ndim, given))
        shape = (1,) * box.rank if self.is_shared else box.shape
        self._first = [np.broadcast_to(np.asarray(bound, box.dtype), (1, *shape)) for bound in given]
        self.low, self.high = (bound[:0] for bound in self._first)
        #: The finite bounds of the first slots, as arrays and of the first few numbers; made when they are asked for.
        self.finite: tuple[Any, Any, list[tuple[float, float]]] | None = None

    def holds(self, rows: np.ndarray[Any, Any]) -> bool:
        """Whether states of the first slots are finite and inside the bounds."""
        number = len(rows)
        if self.finite is None or len(self.finite[0]) < number:
            self.finite = self._finite(number)
        lows, highs, few = self.finite
        if rows.size <= _FEW:
            for given, (low, high) in zip(rows.ravel().tolist(), few, strict=False):  # noqa: SIM110 - faster than `all`
                if not low <= given <= high:
                    return False
            return True
        # In bytes, since `all` takes as long as the comparisons.
        return b"\0" not in ((rows >= lows[:number]) & (rows <= highs[:number])).tobytes()

    def _finite(self, slots: int) -> tuple[Any, Any, list[tuple[float, float]]]:
        largest = np.finfo(self.low.dtype).max
        low, high = self.bounds_of(slice(slots))
        bounds = np.maximum(low, -largest), np.minimum(high, largest)
        each = [np.broadcast_to(bound, (slots, *self.shape)).ravel()[:_FEW].tolist() for bound in bounds]
        return *bounds, list(zip(*each, strict=True))

    def bounds_of(self, slots: slice | np.ndarray[Any, Any]) -> tuple[Any, Any]:
        """The lower and upper bounds ``[B, ...]`` of slots, which may be new."""
        more = (slots.stop if isinstance(slots, slice) else int(slots.max()) + 1) - len(self.low)
        if more > 0:
            self.low, self.high = (
                np.concatenate([bounds, *[first] * more])
                for bounds, first in zip((self.low, self.high), self._first, strict=True)
            )
        return self.low[slots], self.high[slots]


def parts_of(space: Space) -> dict[str, Any]:
    """The Spaces of the parts of a state, by the names that messages have."""
    return {f"state/{path}" if path else "state": box for path, box in space.flatten().items()}


def without_float_bounds(space: Space) -> Space:
    """The same Space with floats of every size."""
    return space.map(
        lambda path, box: FloatBox(shape=box.shape, dtype=box.dtype) if isinstance(box, FloatBox) else box
    )
