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
