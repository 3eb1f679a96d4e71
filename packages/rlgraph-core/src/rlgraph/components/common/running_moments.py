"""Mean and variance of all rows so far, on the host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.core import Component
from rlgraph.spaces import FloatBox, IntBox, Space

#: Deviations below this part of the mean are what rounding leaves of constants.
ROUNDING = 1e-12
#: A number of rows, their mean and the variance of the population.
Part = tuple[int, np.ndarray, np.ndarray]
#: Single precision has no larger quotient of 1 and a deviation.
SMALLEST = 4.0 / float(np.finfo(np.float32).max)


def moment_variables(component: Component, shapes: Mapping[str, tuple[int, ...]]) -> tuple[Any, ...]:
    """Variables of a component for counts, means and variances: each a dict by path, from path -> shape of a row."""

    def declare(name: str, spaces: Mapping[str, Space]) -> dict[str, Any]:
        return {
            path: component.get_variable(f"{name}/{path}", box, host=True) for path, box in spaces.items()
        }

    rows = {path: FloatBox(shape=shape, dtype="float64") for path, shape in shapes.items()}
    return declare("count", dict.fromkeys(rows, IntBox())), declare("mean", rows), declare("variance", rows)


def merged(count: int, mean: np.ndarray, variance: np.ndarray, part: Part) -> Part:
    """The moments of all rows so far and of a part that has any.

    Chan et al. (1983), eq. 1.5, https://doi.org/10.1080/00031305.1983.10483115.
    """
    number, part_mean, part_variance = part
    share, difference = number / (count + number), part_mean - mean
    change = part_variance - variance + (1.0 - share) * np.square(difference)
    return count + number, mean + share * difference, variance + share * change


def merge_rows(count: np.ndarray, mean: np.ndarray, variance: np.ndarray, rows: np.ndarray) -> None:
    """Count ``rows [B, ...]``, in place.

    Args:
        count: how many rows there were, [].
        mean, variance: theirs, ``[...]``; the variance is that of the population.
        rows: of the dtype of the moments.
    """
    if len(rows):
        part = len(rows), rows.mean(axis=0), rows.var(axis=0)
        count[...], mean[...], variance[...] = merged(int(count), mean, variance, part)


def deviation_of(mean: np.ndarray, variance: np.ndarray, epsilon: float = 0.0) -> np.ndarray:
    """What to divide by to get a deviation of 1, however small the variance is; 1 for constants if `epsilon` is 0."""
    changes = np.sqrt(variance) > ROUNDING * np.abs(mean)
    return np.maximum(np.sqrt(np.where(changes, variance, 0.0 if epsilon else 1.0) + epsilon), SMALLEST)
