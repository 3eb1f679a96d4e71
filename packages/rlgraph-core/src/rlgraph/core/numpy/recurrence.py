"""The linear recurrence on NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


class Recurrence:
    """The family recurrence."""

    @staticmethod
    def linear_recurrence(
        x: Array, d: Any, initial: Array | None = None, reverse: bool = False, axis: int = 0
    ) -> Array:
        y = np.array(x)
        d = np.asarray(d, x.dtype)
        d = d if d.shape == x.shape else np.broadcast_to(d, x.shape)
        line, d = (y, d) if axis == 0 else (np.moveaxis(y, axis, 0), np.moveaxis(d, axis, 0))
        if initial is not None and len(line):
            first = -1 if reverse else 0
            line[first] += d[first] * initial
        accumulate(line, d[:-1] if reverse else d[1:], reverse)
        return y


def accumulate(y: Array, d: Array, reverse: bool) -> None:
    """Let every element of ``y [T, ...]`` take in its neighbour; ``d [T - 1, ...]`` are the factors between neighbours.

    By doubling the reach of each element, log2(T) operations on all of them (Hillis and Steele, 1986).
    """
    reach, length = 1, len(y)
    while reach < length:
        early, late = y[:-reach], y[reach:]
        if reverse:
            early += d * late
        else:
            late += d * early
        if 2 * reach < length:
            d = d[:-reach] * d[reach:]
        reach *= 2
