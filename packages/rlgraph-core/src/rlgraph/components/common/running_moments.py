"""Mean and variance of all rows so far, in host variables."""

from __future__ import annotations

import numpy as np


def merge_rows(count: np.ndarray, mean: np.ndarray, variance: np.ndarray, rows: np.ndarray) -> None:
    """Count ``rows [B, ...]``, in place.

    Moments are merged as by Chan et al. (1983), eq. 1.5, https://doi.org/10.1080/00031305.1983.10483115.

    Args:
        count: how many rows there were, [].
        mean, variance: theirs, ``[...]``; the variance is that of the population.
        rows: of the dtype of the moments.
    """
    if not len(rows):
        return
    count += len(rows)
    share = len(rows) / int(count)
    difference = rows.mean(axis=0) - mean
    mean += share * difference
    variance += share * (rows.var(axis=0) - variance + (1.0 - share) * difference**2)
