"""Aggregates over runs: the interquartile mean and its stratified bootstrap interval.

Agarwal et al. (2021), "Deep reinforcement learning at the edge of the statistical precipice",
https://arxiv.org/abs/2108.13264: few runs are reported with an estimate that is robust to outliers, and with
its interval when the runs are resampled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rlgraph.core import InputError

Array = np.ndarray
#: Number of resamples; the ends of the interval then vary by about a hundredth of its width.
RESAMPLES = 2000
#: The smallest number of scores of which the interquartile mean drops any.
FEWEST = 4


def interquartile_mean(scores: Array, axis: int = 0) -> Array:
    """The mean of the middle half: a quarter of the scores, rounded down, is dropped at either end.

    For fewer than four scores it is the mean. Equal to ``scipy.stats.trim_mean(scores, 0.25, axis)``.

    Args:
        scores: ``[..., n, ...]`` with `n` scores along `axis`.
        axis: the axis to reduce.

    Raises:
        InputError: there are no scores.
    """
    scores = np.asarray(scores, np.float64)
    number = scores.shape[axis]
    if number == 0:
        raise InputError("interquartile_mean: expected at least one score, given none")
    cut = number // 4
    middle = np.partition(scores, (cut, number - cut - 1), axis).take(range(cut, number - cut), axis)
    return np.asarray(middle.mean(axis))


def bootstrap_interval(
    strata: Sequence[Array],
    *,
    statistic: Callable[..., Array] = interquartile_mean,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[Array, Array]:
    """Percentile interval of a statistic of all scores, with runs resampled within their stratum.

    Args:
        strata: one array per task, ``[runs]`` or ``[runs, points]``; runs of different tasks are never exchanged.
        statistic: of scores ``[..., n, ...]``, given the axis to reduce as ``axis=``.
        confidence: share of the resamples inside the interval.
        resamples: number of resamples.
        seed: seed of the resampling.

    Returns:
        Lower and upper ends, ``[]`` or ``[points]``. One run in each stratum gives an interval of zero width, which
        says nothing about the spread of runs.

    Raises:
        InputError: no strata, or a stratum without runs.
    """
    if not strata or any(len(stratum) == 0 for stratum in strata):
        raise InputError(
            f"bootstrap_interval: expected runs in every stratum, given {[len(s) for s in strata]}"
        )
    generator = np.random.default_rng(seed)
    drawn = [generator.integers(len(stratum), size=(resamples, len(stratum))) for stratum in strata]
    columns = [np.asarray(stratum, np.float64).reshape(len(stratum), -1) for stratum in strata]
    tail = 50.0 * (1.0 - confidence)
    ends = []
    for point in range(columns[0].shape[1]):  # one after the other, since all at once need gigabytes
        samples = np.concatenate(
            [column[rows, point] for column, rows in zip(columns, drawn, strict=True)], axis=1
        )
        ends.append(np.percentile(statistic(samples, axis=1), (tail, 100.0 - tail)))
    low, high = np.transpose(ends)
    shape = np.shape(strata[0])[1:]
    return low.reshape(shape), high.reshape(shape)
