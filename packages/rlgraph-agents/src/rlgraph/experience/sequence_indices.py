"""Where the fragments of a batch end that users hand to an agent."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlgraph.core import InputError


def fragment_ends(method: str, sequence_indices: Any, size: int) -> np.ndarray:
    """Which rows are the last of a fragment, [size] bool; the last row of all always is.

    Args:
        method: named in errors.
        sequence_indices: [size] bool, or the integer indices of the last rows; None: one fragment.
        size: rows of the batch.

    Raises:
        InputError: another length, or indices that are no rows.
    """
    ends = np.zeros(size, bool)
    given = np.asarray([] if sequence_indices is None else sequence_indices)
    if given.shape != (0,):
        if given.dtype == bool and given.shape == (size,):
            ends |= given
        elif given.ndim == 1 and given.dtype.kind in "iu" and ((given >= 0) & (given < size)).all():
            ends[given] = True
        else:
            raise InputError(
                f"{method}: sequence_indices: expected bool[{size}], true at the last row of each fragment, or the "
                f"indices of these rows (0 to {size - 1}), given {given.dtype}{list(given.shape)}"
                + (f" from {given.min()} to {given.max()}" if given.dtype.kind in "iu" and given.size else "")
            )
    ends[size - 1 :] = True
    return ends
