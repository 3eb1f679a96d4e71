"""Mean and variance of all rows so far, in host variables."""

from __future__ import annotations

import numpy as np

#: Deviations below this part of the mean are what rounding leaves of constants.
ROUNDING = 1e-12
#: Single precision has no larger quotient of 1 and a deviation.
SMALLEST = 4.0 / float(np.finfo(np.float32).max)


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


def deviation_of(mean: np.ndarray, variance: np.ndarray, epsilon: float = 0.0) -> np.ndarray:
    """What to divide by to get a deviation of 1, however small the variance is; 1 for constants if `epsilon` is 0."""
    changes = np.sqrt(variance) > ROUNDING * np.abs(mean)
    return np.maximum(np.sqrt(np.where(changes, variance, 0.0 if epsilon else 1.0) + epsilon), SMALLEST)
