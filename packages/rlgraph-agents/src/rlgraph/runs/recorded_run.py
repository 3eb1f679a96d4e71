"""Reads finished or unfinished runs from their folders."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from rlgraph.experience.specs import parse_spec
from rlgraph.runs.config_file import CONFIG, read_config
from rlgraph.runs.configuration_differences import configuration
from rlgraph.runs.errors import RunFolderError
from rlgraph.runs.records import METRICS_CSV, check_records, csv_rows
from rlgraph.runs.result_file import read_result
from rlgraph.runs.run_spec import RunSpec
from rlgraph.workers.short_repr import short_repr


@dataclass(frozen=True)
class RecordedRun:
    """A run as recorded in its folder.

    Attributes:
        folder: the run folder.
        label: its label in a comparison; default: the agent's type.
        agent: type of the agent.
        environment: name of the environment.
        backend: its backend.
        seed: root of its random numbers.
        steps: configured environment steps.
        finished: all steps are done, or a stop condition was met.
        configuration: its document without what may differ between runs of one group, such as the seed.
        metrics: a column of ``metrics.csv`` -> steps ``[n]`` and values ``[n]`` of the rows that have it.
    """

    folder: Path
    label: str
    agent: str
    environment: str
    backend: str
    seed: int
    steps: int
    finished: bool
    configuration: Mapping[str, Any]
    metrics: Mapping[str, tuple[np.ndarray, np.ndarray]]

    def __repr__(self) -> str:
        return short_repr(self, "folder", "steps", "finished")


def read_run(folder: str | Path, label: str | None = None) -> RecordedRun:
    """Read a run's folder.

    Args:
        folder: the run folder.
        label: its label.

    Raises:
        RunFolderError: not a run folder, or a file is damaged.
        SpecError: its document is wrong.
    """
    folder = Path(folder)
    config = read_config(folder)
    run = parse_spec(RunSpec, config["run"], "run")
    agent, result = str(run.agent.get("type", "agent")), read_result(folder)
    backend = config["chosen"]["backend"]
    if result is not None and result.is_complete and result.records is not None:
        check_records(folder, result.records, METRICS_CSV)
    return RecordedRun(
        folder=folder,
        label=label or agent,
        agent=agent,
        environment=environment_name(run.environment),
        backend=backend,
        seed=run.seed,
        steps=run.steps,
        finished=result is not None and result.is_complete,
        configuration=configuration(run.model_dump(mode="json"), backend),
        metrics=read_metrics(folder / METRICS_CSV),
    )


def environment_name(spec: Any) -> str:
    """The name of an environment spec: its id, its level, its game or its type, with what is inside of it.

    It is for people: environments with other options may have the same name.
    """
    if not isinstance(spec, Mapping):
        return str(spec)
    for key in ("gym_env", "env_id", "rom", "level_id", "game"):
        if isinstance(spec.get(key), str):
            return str(spec[key])
    kind, world = str(spec.get("type", "environment")), spec.get("world")
    if isinstance(world, str):
        return f"{kind} {world}"
    inner = spec.get("env", spec.get("environment"))
    if inner is None:
        return str(spec.get("type"))
    # A function that makes many tasks, as those of dm_env do, has the task in its arguments.
    others = ("type", "env", "environment", "seed_argument")
    task = [value for key, value in spec.items() if key not in others and isinstance(value, str)]
    return " ".join([kind, *(task or [environment_name(inner)])])


def read_metrics(file: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Steps and values of every column of a ``metrics.csv``; an incomplete last line is ignored.

    Raises:
        RunFolderError: it cannot be read, or a row is damaged.
    """
    points: dict[str, list[tuple[float, float]]] = {}
    last = 0.0

    def add(row: dict[str, str]) -> None:
        nonlocal last
        if "timesteps" not in row:
            raise ValueError("expected a column timesteps")
        steps = _number(row["timesteps"])
        if steps < last:
            raise ValueError(f"timesteps: expected a number >= {last:g}, the one before, given {steps:g}")
        last = steps
        for name, text in row.items():
            column = points.setdefault(name, [])
            if name != "timesteps" and text not in ("", "nan"):  # a mean of no episodes is NaN
                column.append((steps, _number(text)))

    for _ in csv_rows(file, add):
        pass
    points.pop("timesteps", None)
    return {name: _columns(column) for name, column in points.items() if name}


def _number(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"expected a finite number, given {text}")
    return number


def _columns(points: list[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    steps, values = zip(*points, strict=True) if points else ((), ())
    return np.array(steps), np.array(values)


def find_runs(folder: Path) -> Iterator[Path]:
    """`folder` if it is a run folder, else all run folders below it, sorted; links to folders are followed once."""
    seen, waiting = set[str](), [folder]
    while waiting:
        place = waiting.pop()
        real = os.path.realpath(place)
        if real in seen:
            continue
        seen.add(real)
        try:
            if (place / CONFIG).exists():
                yield place
            elif place.is_dir():
                waiting += sorted((path for path in place.iterdir() if path.is_dir()), reverse=True)
        except OSError as error:
            raise RunFolderError(f"{place} cannot be read: {error.strerror}") from None
