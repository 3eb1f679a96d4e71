"""What losses expect of arguments with one number per item of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlgraph.spaces import BoxSpace, SpaceError


def time_axis_of(space: Any) -> int | None:
    """The axis of the time rank, 0 or 1; None without one.

    Two sizes that are fixed, and that no rank is known of, are time and batch.
    """
    if space.has_time_rank:
        return 0 if space.time_major or not space.has_batch_rank else 1
    return 0 if not space.has_batch_rank and len(space.shape) == 2 else None


def check_items(spaces: Mapping[str, Any]) -> None:
    """Raise `SpaceError` unless all are batches of one number per item, with the same ranks; names the argument."""
    first = ""
    for name, space in spaces.items():
        if not isinstance(space, BoxSpace) or not _is_item(space):
            raise SpaceError(
                f"{name}: expected one number per item, [B], [T, B] or [B, T], given {space!r}{_help(space)}"
            )
        if first and _ranks(spaces[first]) != _ranks(space):
            raise SpaceError(
                f"{name}: expected the ranks of {first}, {spaces[first]!r}, given {space!r}; another shape would be "
                "spread over all pairs of items without a word"
            )
        first = first or name


def _is_item(space: BoxSpace) -> bool:
    ranks = space.has_batch_rank + space.has_time_rank
    if not ranks:  # fixed sizes, as those of a minibatch
        return 1 <= len(space.shape) <= 2
    return not space.shape or (not space.has_batch_rank and len(space.shape) == 1)


def _ranks(space: BoxSpace) -> tuple[int, int | None]:
    """How many axes there are, and which is time."""
    return len(space.get_shape(True, True)), time_axis_of(space)


def _help(space: Any) -> str:
    if isinstance(space, BoxSpace) and space.shape == (1,):
        return (
            '; {"type": "reshape", "new_shape": []} takes the last axis away, as ops.squeeze(x, axis=-1) does'
        )
    return ""
