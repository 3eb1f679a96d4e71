"""Checks of trajectory Spaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.spaces import BoolBox, BoxSpace, FloatBox, IntBox, SpaceError

#: How to bootstrap a fragment that does not end with a terminal.
BOOTSTRAPS = ("next_value", "last_value")
#: Names of item types in messages and in specs.
NAMES = {FloatBox: ("a FloatBox", "float"), BoolBox: ("a BoolBox", "bool"), IntBox: ("an IntBox", "int")}


def check_steps(spaces: Mapping[str, Any], *names: str, kind: type[BoxSpace], rank: int = 0) -> None:
    """Raise `SpaceError` unless the `spaces` of the given arguments hold one item per step.

    Args:
        spaces: Spaces by argument.
        names: the arguments.
        kind: type of the items; `BoolBox` accepts integers as well.
        rank: number of axes of an item.
    """
    for name in names:
        space = spaces.get(name)
        if space is not None and not (_is_item(space, kind, rank) and _ranks(space)):
            raise SpaceError(
                f"{name}: expected {NAMES[kind][0]} of rank {rank} with a batch rank, or with both ranks, time first, "
                f"given {space!r}{_help(space, kind, rank)}"
            )


def check_same_ranks(spaces: Mapping[str, Any], *names: str) -> None:
    """Raise `SpaceError` unless all given arguments have the ranks of the first."""
    first, *others = (name for name in names if name in spaces)
    for name in others:
        if _ranks(spaces[name]) != _ranks(spaces[first]):
            raise SpaceError(
                f"{name}: expected the ranks of {first}, {spaces[first]!r}, given {spaces[name]!r}; another shape "
                "would silently broadcast over all pairs of steps"
            )


def check_bootstrap_values(spaces: Mapping[str, Any], name: str, values: str, ends: str) -> None:
    """Raise `SpaceError` unless the values of the states after all fragments are given.

    Args:
        spaces: Spaces by argument.
        name: the argument with the values of the states after the fragments.
        values: the argument with the values of the states.
        ends: the argument that marks ends of fragments.
    """
    space = spaces.get(name)
    if space is None:
        raise SpaceError(
            f'{name}: expected values of the states after the fragments, given none; bootstrap="last_value" uses the '
            "values of their own last states instead, as RLgraph 0.5 did"
        )
    per_step, per_fragment = _ranks(spaces[values]), _ranks(spaces[values]) - 1
    if not _is_item(space, FloatBox, 0) or _ranks(space) not in (per_step, per_fragment):
        raise SpaceError(
            f"{name}: expected one float per step, as {values}, or one per fragment, given {space!r}"
            f"{_help(space, FloatBox, 0)}"
        )
    if ends in spaces and _ranks(space) == per_fragment:
        raise SpaceError(
            f"{name}: with {ends} expected the value of the state that each step led to (those where fragments end are "
            f"used), given {space!r}"
        )


def _is_item(space: Any, kind: type[BoxSpace], rank: int) -> bool:
    """Whether the Space is a tensor of such items, time first."""
    is_kind = isinstance(space, kind) or (kind is BoolBox and isinstance(space, IntBox))
    return is_kind and space.rank == rank and not _is_batch_major(space)


def _help(space: Any, kind: type[BoxSpace], rank: int) -> str:
    """A hint on how to convert the input."""
    if not isinstance(space, BoxSpace):
        return "; pass the parts of a container one by one"
    if not isinstance(space, kind):
        return f'; put in front: {{"type": "convert_type", "to_dtype": "{NAMES[kind][1]}"}}'
    if rank == 0 and space.shape == (1,):
        return '; put in front: {"type": "reshape", "new_shape": []}'
    return '; put in front: {"type": "transpose"}' if _is_batch_major(space) else ""


def _ranks(space: BoxSpace) -> int:
    return space.has_batch_rank + space.has_time_rank


def _is_batch_major(space: BoxSpace) -> bool:
    return space.has_batch_rank and space.has_time_rank and not space.time_major
