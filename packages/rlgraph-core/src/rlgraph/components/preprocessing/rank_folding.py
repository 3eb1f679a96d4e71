"""Folds batch and time rank into one axis, and back."""

from __future__ import annotations

from rlgraph.core.ops.dims import RankSize
from rlgraph.spaces import BoxSpace, SpaceError


def folded(box: BoxSpace, where: str) -> BoxSpace:
    """The Space with batch and time in one batch rank.

    Raises:
        SpaceError: one of the ranks is missing.
    """
    if not (box.has_batch_rank and box.has_time_rank):
        raise SpaceError(f"{where}: folding needs a Space with batch rank and time rank, given {box!r}")
    batch, time = _fixed(box.batch_rank), _fixed(box.time_rank)
    return box.with_extra_ranks(batch * time if batch and time else True, False, False)


def unfolded(box: BoxSpace, steps: bool | int, time_major: bool, where: str) -> BoxSpace:
    """The Space with a time rank of `steps`, True for an unknown number, taken from the batch rank.

    Raises:
        SpaceError: it has no batch rank or has a time rank, or a fixed batch that `steps` does not divide.
    """
    if not box.has_batch_rank or box.has_time_rank:
        raise SpaceError(
            f"{where}: unfolding needs a Space with batch rank and without time rank, given {box!r}"
        )
    batch = _fixed(box.batch_rank)
    if steps is True or not batch:
        return box.with_extra_ranks(True, steps, time_major)
    if batch % steps:
        raise SpaceError(f"{where}: {batch} items are not a multiple of {steps} steps, given {box!r}")
    return box.with_extra_ranks(batch // steps, steps, time_major)


def rank_sizes(box: BoxSpace) -> list[int]:
    """The sizes of the ranks in the order of the axes, for ``ops.reshape``; -1 for one that is unknown."""
    roles = [("batch", box.batch_rank), ("time", box.time_rank)]
    sizes = [
        RankSize(_fixed(rank), role) if _fixed(rank) else -1 for role, rank in roles if rank is not False
    ]
    return sizes[::-1] if box.time_major else sizes


def _fixed(rank: bool | int | str) -> int:
    """The size of a rank, 0 if it is not fixed."""
    return 0 if isinstance(rank, bool | str) else rank
