"""Checks of batches of which rows are taken."""

from __future__ import annotations

from rlgraph.spaces import Space, SpaceError


def check_rows(space: Space, where: str) -> None:
    """Raise `SpaceError` unless the first axis of inputs is the batch."""
    if not space.has_batch_rank or space.time_major:
        raise SpaceError(
            f"{where}: inputs need a batch rank, ahead of a time rank: rows are taken from it; given {space!r}"
        )
