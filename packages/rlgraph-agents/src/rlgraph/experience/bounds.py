"""Numbers that their Space does not have."""

from __future__ import annotations

import numpy as np

from rlgraph.spaces import BoxSpace, FloatBox, IntBox

#: Rounding can take a float from inside its bounds beyond one, by this part of the larger bound.
ROUNDING = 1e-6


def outside(box: BoxSpace, array: np.ndarray, taken: np.ndarray, are_actions: bool) -> np.ndarray:
    """Where an array is not in its Space; the bounds of floats are checked of actions only, as densities need.

    Args:
        box: the Space of one item.
        array: as it was given.
        taken: with the dtype of records, in which large numbers can be infinite.
        are_actions: whether the numbers are actions or parts of these.
    """
    found = ~np.isfinite(taken) if taken.dtype.kind == "f" else np.zeros(array.shape, bool)
    if isinstance(box, IntBox):
        found |= False if box.low is None else array < box.low
        found |= False if box.high is None else array >= box.high
    elif isinstance(box, FloatBox) and are_actions:
        low = -np.inf if box.low is None else np.asarray(box.low)
        high = np.inf if box.high is None else np.asarray(box.high)
        sizes = (np.where(np.isfinite(bound), np.abs(bound), 0.0) for bound in (low, high))
        margin = ROUNDING * np.maximum(*sizes)
        found |= (array < low - margin) | (array > high + margin)
    return found


def in_words(where: str, box: BoxSpace, array: np.ndarray, wrong: np.ndarray) -> str:
    """The first number of states and the like that is not in its Space, and what to do.

    Args:
        where: the argument and the path in it, ``states.position``.
        box: the Space of one item.
        array: ``[B, ...]``, or with further leading ranks.
        wrong: where it is not in the Space.
    """
    place = tuple(np.argwhere(wrong)[0].tolist())
    leading = array.ndim - len(box.shape)
    row, inner = place[:leading], list(place[leading:])
    at = f"at {inner} of" if inner else "in"
    given = f"given {array[place]} {at} row {row[0] if leading == 1 else row}"
    if isinstance(box, IntBox):
        return f"argument {where}: expected integers of {box!r}, {given}: give others, or the agent another Space"
    return (
        f"argument {where}: expected finite numbers, {given}: find out where they come from, or replace them"
    )
