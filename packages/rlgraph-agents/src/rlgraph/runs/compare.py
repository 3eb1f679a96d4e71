"""Comparison of runs: groups, curves and scores."""

from __future__ import annotations

import glob
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rlgraph.core import SpecError
from rlgraph.core.errors import nearest
from rlgraph.runs.aggregate import RESAMPLES, bootstrap_interval, interquartile_mean
from rlgraph.runs.configuration_differences import difference_texts
from rlgraph.runs.recorded_run import RecordedRun, find_runs, read_run
from rlgraph.workers.short_repr import short_repr

#: Default fields that define groups.
GROUPED_BY = ("label", "environment", "configuration")
FIELDS = ("label", "agent", "environment", "backend", "seed", "configuration")
#: A group of fewer runs is a caution.
ENOUGH_RUNS = 5
#: Number of points of a curve.
POINTS = 100
#: Metric -> label of the axis.
AXES = {"evaluation_return": "return, greedy evaluation", "mean_return": "return, training"}


@dataclass(frozen=True)
class Group:
    """Runs with equal values of the grouping fields, usually different seeds.

    Attributes:
        key: field -> common value of its runs; ``configuration``: in what it differs from the other groups.
        runs: its runs.
        steps: ``[points]``, environment steps of the curve.
        curve: ``[points]``, interquartile mean over runs of the metric.
        low, high: ``[points]``, ends of its 95 % interval.
        scores: ``[runs]``, every run's value at the last of `steps`.
    """

    key: Mapping[str, str]
    runs: tuple[RecordedRun, ...]
    steps: np.ndarray
    curve: np.ndarray
    low: np.ndarray
    high: np.ndarray
    scores: np.ndarray

    @property
    def name(self) -> str:
        return ", ".join(filter(None, self.key.values())) or "all runs"

    def __repr__(self) -> str:
        last = {"steps": int(self.steps[-1]), "iqm": float(self.curve[-1])}
        return short_repr(self, "name", runs=len(self.runs), **last)


@dataclass(frozen=True)
class Comparison:
    """Groups of runs under one metric.

    Attributes:
        metric: the compared column of ``metrics.csv``.
        groups: in the order of their first runs.
        cautions: what may mislead: runs that were left out, unfinished runs, repeated seeds, unequal lengths, few runs;
            one sentence each.
    """

    metric: str
    groups: tuple[Group, ...]
    cautions: tuple[str, ...]

    def __repr__(self) -> str:
        return short_repr(self, "metric", groups=len(self.groups), cautions=len(self.cautions))

    def rows(self) -> list[dict[str, Any]]:
        """One row per group: key, number of runs, steps, interquartile mean, interval, mean, extremes."""
        return [
            {
                **group.key,
                "runs": len(group.runs),
                "steps": int(group.steps[-1]),
                "iqm": float(group.curve[-1]),
                "low": float(group.low[-1]),
                "high": float(group.high[-1]),
                "mean": float(group.scores.mean()),
                "min": float(group.scores.min()),
                "max": float(group.scores.max()),
            }
            for group in self.groups
        ]

    def curve_rows(self) -> list[dict[str, Any]]:
        """One row per group and point of its curve."""
        return [
            {**group.key, "steps": int(step), "iqm": float(value), "low": float(low), "high": float(high)}
            for group in self.groups
            for step, value, low, high in zip(group.steps, group.curve, group.low, group.high, strict=True)
        ]

    def as_dict(self) -> dict[str, Any]:
        """The whole comparison as JSON-serializable data."""
        runs = [
            {"folder": str(run.folder), "seed": run.seed, "finished": run.finished, "score": float(score)}
            for group in self.groups
            for run, score in zip(group.runs, group.scores, strict=True)
        ]
        return {
            "metric": self.metric,
            "groups": self.rows(),
            "runs": runs,
            "curves": self.curve_rows(),
            "cautions": self.cautions,
        }


def compare(
    runs: Iterable[RecordedRun],
    *,
    metric: str = "evaluation_return",
    by: Sequence[str] = GROUPED_BY,
    normalize: Mapping[str, tuple[float, float]] | None = None,
    resamples: int = RESAMPLES,
) -> Comparison:
    """Aggregate runs by groups.

    A run keeps a value until the next one. A finished run keeps its last value (it may have stopped early on reaching
    its goal). After the last value of an unfinished run nothing is known, so the curve of its group ends there.

    Args:
        runs: runs from `read_run`.
        metric: column of ``metrics.csv``.
        by: fields that define groups: label, agent, environment, backend, seed, configuration (everything else but the
            seed and the length). Without ``environment`` the environments are the strata of the bootstrap.
        normalize: environment -> the returns that become 0 and 1; required for pooled environments.
        resamples: number of resamples for the intervals.

    Raises:
        SpecError: no runs, an unknown field or metric, or returns of different scales would be mixed.
    """
    runs = list(runs)
    _check(runs, metric, by)
    compared = [run for run in runs if _has(run, metric)]
    groups = tuple(
        _group(key, members, metric, normalize or {}, resamples) for key, members in _grouped(compared, by)
    )
    without = [str(run.folder) for run in runs if not _has(run, metric)]
    left_out = [f"left out, since they have no value of {metric} yet: {_first(without)}"] if without else []
    return Comparison(metric, groups, (*left_out, *_cautions(groups)))


def collect_runs(arguments: Iterable[str]) -> list[tuple[str | None, Path]]:
    """Labels and folders of runs from arguments ``FOLDER`` or ``LABEL=FOLDER``, which may contain ``*``.

    A folder that is not a run folder means all runs below it.

    Raises:
        SpecError: no run is found.
    """
    found: list[tuple[str | None, Path]] = []
    for argument in arguments:
        label, given, place = argument.rpartition("=") if not Path(argument).exists() else ("", "", argument)
        if given and not label:
            raise SpecError("the label before '=' is empty", path=argument)
        folders = [
            folder for match in sorted(glob.glob(place, recursive=True)) for folder in find_runs(Path(match))
        ]
        if not folders:
            raise SpecError(
                f"{place} is not a run folder, and there is none below it: a run's has a config.json"
            )
        found.extend((label or None, folder) for folder in folders)
    return list(dict.fromkeys(found))


def _check(runs: Sequence[RecordedRun], metric: str, by: Sequence[str]) -> None:
    if not runs:
        raise SpecError("there are no runs to compare")
    for field in by:
        if field not in FIELDS:
            raise SpecError(f"runs have no field {field!r}. {nearest(field, FIELDS)}", path="by")
    known = {name for run in runs for name in run.metrics}
    if known and metric not in known:
        raise SpecError(f"no run has {metric!r}. {nearest(metric, known)}", path="metric")
    if not any(_has(run, metric) for run in runs):
        raise SpecError(f"no run has a value of {metric} yet: take another metric", path="metric")


def _has(run: RecordedRun, metric: str) -> bool:
    return len(run.metrics.get(metric, ((), ()))[0]) > 0


def _grouped(
    runs: Iterable[RecordedRun], by: Sequence[str]
) -> Iterator[tuple[dict[str, str], list[RecordedRun]]]:
    """Keys and runs of the groups."""
    alike: dict[tuple[str, ...], list[list[RecordedRun]]] = {}
    for run in runs:
        groups = alike.setdefault(
            tuple(str(getattr(run, name)) for name in by if name != "configuration"), []
        )
        for group in groups:
            if "configuration" not in by or group[0].configuration == run.configuration:
                group.append(run)
                break
        else:
            groups.append([run])
    for values, groups in alike.items():
        texts = difference_texts([group[0].configuration for group in groups])
        for group, text in zip(groups, texts, strict=True):
            others = iter(values)
            yield {name: text if name == "configuration" else next(others) for name in by}, group


def _cautions(groups: Sequence[Group]) -> Iterator[str]:
    unfinished = [str(run.folder) for group in groups for run in group.runs if not run.finished]
    if unfinished:
        yield f"unfinished: {_first(unfinished)}; the curves of their groups end where they do"
    for group in groups:
        repeated: dict[str, list[str]] = {}
        for run in group.runs:
            repeated.setdefault(json.dumps([run.configuration, run.seed], sort_keys=True), []).append(
                str(run.folder)
            )
        for folders in repeated.values():
            if len(folders) > 1:
                yield (
                    f"{group.name}: {', '.join(folders)} have one seed and one configuration, so they are the same "
                    "run, counted more than once"
                )
        lengths = sorted({run.steps for run in group.runs})
        if len(lengths) > 1:
            yield (
                f"{group.name}: runs of {lengths[0]:,} to {lengths[-1]:,} steps; a finished run keeps its last value, "
                "and schedules follow the length"
            )
    few = [f"{group.name} ({len(group.runs)})" for group in groups if len(group.runs) < ENOUGH_RUNS]
    if few:
        yield f"fewer than {ENOUGH_RUNS} runs of a group say little about other seeds: {_first(few)}"


def _first(names: Sequence[str], number: int = 3) -> str:
    """The first of some names, and how many more there are."""
    more = [f"{len(names) - number} more"] if len(names) > number else []
    return "; ".join([*names[:number], *more])


def _group(
    key: dict[str, str],
    runs: list[RecordedRun],
    metric: str,
    normalize: Mapping[str, tuple[float, float]],
    resamples: int,
) -> Group:
    strata: dict[str, list[RecordedRun]] = {}
    for run in runs:
        strata.setdefault(_task(run), []).append(run)
    names = {task: members[0].environment for task, members in strata.items()}
    missing = list(dict.fromkeys(name for name in names.values() if name not in normalize))
    if len(strata) > 1 and missing:
        # Tasks of one name differ in their options.
        is_named_apart = len(set(names.values())) == len(names)
        raise SpecError(
            f"returns of {', '.join(names.values() if is_named_apart else names)} would be mixed: tell them apart "
            f"by {'environment' if is_named_apart else 'configuration'}, or say what becomes 0 and 1 in "
            f"{', '.join(missing)}",
            path=", ".join(filter(None, key.values())) or "all runs",
        )
    steps = _steps(runs, metric)
    values = [
        np.stack([_scaled(_at(run, metric, steps), normalize.get(names[task])) for run in members])
        for task, members in strata.items()
    ]
    curve = interquartile_mean(np.concatenate(values))
    low, high = bootstrap_interval(values, resamples=resamples)
    ordered = tuple(run for members in strata.values() for run in members)
    return Group(key, ordered, steps, curve, low, high, np.concatenate(values)[:, -1])


def _task(run: RecordedRun) -> str:
    """The environment's spec, since environments with other options may have the same name."""
    spec = run.configuration.get("environment", run.environment)
    return spec if isinstance(spec, str) else json.dumps(spec, sort_keys=True, default=str)


def _steps(runs: Sequence[RecordedRun], metric: str) -> np.ndarray:
    """The steps from which, and up to which, all runs have a value."""
    known = [run.metrics[metric][0] for run in runs]
    ends = [steps[-1] for steps, run in zip(known, runs, strict=True) if not run.finished]
    first = max(steps[0] for steps in known)
    last = min(ends) if ends else max(steps[-1] for steps in known)
    inside = np.unique(np.concatenate(known))
    inside = inside[(inside >= first) & (inside <= last)]
    if not len(inside):
        return np.array([first])
    chosen = np.linspace(0, len(inside) - 1, min(POINTS, len(inside))).round().astype(int)
    return np.asarray(inside[chosen])


def _at(run: RecordedRun, metric: str, steps: np.ndarray) -> np.ndarray:
    """The latest value of a run at each of `steps`."""
    known, values = run.metrics[metric]
    return np.asarray(values[np.searchsorted(known, steps, side="right") - 1])


def _scaled(values: np.ndarray, ends: tuple[float, float] | None) -> np.ndarray:
    return values if ends is None else (values - ends[0]) / (ends[1] - ends[0])


def read_runs(arguments: Iterable[str]) -> list[RecordedRun]:
    """The runs of the given arguments (see `collect_runs`)."""
    return [read_run(folder, label) for label, folder in collect_runs(arguments)]
