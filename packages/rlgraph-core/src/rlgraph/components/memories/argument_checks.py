"""Checks of the arguments of memories, except records."""

from __future__ import annotations

from typing import Any

from rlgraph.core import InputError
from rlgraph.spaces import BoxSpace, FloatBox, IntBox, Space, SpaceError


def check_count(space: Any, name: str) -> None:
    """Raise `SpaceError` unless an argument is one whole number, []."""
    _check(space, name, IntBox, 0, "a whole number, IntBox()")


def check_fraction(space: Any, name: str) -> None:
    """Raise `SpaceError` unless an argument is one number, []."""
    _check(space, name, FloatBox, 0, "a number, FloatBox()")


def check_indices(space: Any, name: str) -> None:
    """Raise `SpaceError` unless an argument is a whole number for each record, [N]."""
    _check(space, name, IntBox, 1, "a whole number for each record, IntBox(add_batch_rank=True)")


def check_numbers(space: Any, name: str) -> None:
    """Raise `SpaceError` unless an argument is a number for each record, [N]."""
    _check(space, name, FloatBox, 1, "a number for each record, FloatBox(add_batch_rank=True)")


def number_of(value: Any, where: str, name: str = "num_records") -> int:
    """A requested number as an int.

    Raises:
        InputError: it is negative.
    """
    number = int(value)
    if number < 0:
        raise InputError(f"{where}: {name}: expected a number >= 0, given {number}")
    return number


def _check(space: Any, name: str, kind: type[BoxSpace], axes: int, wanted: str) -> None:
    if not isinstance(space, Space):
        return  # a number in the wiring
    if not isinstance(space, kind) or _axes(space) != axes:
        raise SpaceError(f"{name}: expected {wanted}, given {space!r}")


def _axes(space: BoxSpace) -> int:
    return len(space.shape) + space.has_batch_rank + space.has_time_rank
