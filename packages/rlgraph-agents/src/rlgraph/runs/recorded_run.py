"""What a run's folder says about the run, whole or unfinished."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rlgraph.core import SpecError
from rlgraph.runs.records import METRICS_CSV
from rlgraph.runs.run_folder import CONFIG, read_config

RESULT = "result.json"
#: Outcomes of runs that came to their end; those that were interrupted or failed may go on.
COMPLETE = ("finished", "stopped")


@dataclass(frozen=True)
class RecordedRun:
    """One run as its folder has it.

    Attributes:
        folder: where it is.
        label: what it is called in a comparison; its agent's type unless the user gave one.
        agent: type of the agent.
        environment: name of the environment.
        backend: where it ran.
        seed: root of its random numbers.
        steps: environment steps it was to do.
        finished: it came to its end: all steps are done, or a stop condition was met.
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
    metrics: Mapping[str, tuple[np.ndarray, np.ndarray]]


def read_run(folder: str | Path, label: str | None = None) -> RecordedRun:
    """Read a run's folder.

    Args:
        folder: the run's.
        label: what to call it.

    Raises:
        SpecError: it is no run folder, or its metrics cannot be read.
    """
    folder = Path(folder)
    config = read_config(folder)
    run = config["run"]
    try:
        backend, _ = config["chosen"]["backend"], (run["agent"], run["environment"])
    except (KeyError, TypeError) as error:
        raise SpecError(f"{folder} is no run folder: {CONFIG} says nothing of {error}") from None
    agent = str(run["agent"].get("type", "agent")) if isinstance(run["agent"], dict) else str(run["agent"])
    return RecordedRun(
        folder=folder,
        label=label or agent,
        agent=agent,
        environment=environment_name(run["environment"]),
        backend=str(backend),
        seed=int(run.get("seed", 0)),
        steps=int(run.get("steps", 0)),
        finished=_outcome(folder) in COMPLETE,
        metrics=read_metrics(folder / METRICS_CSV),
    )


def _outcome(folder: Path) -> str | None:
    """What ``result.json`` says; None while there is none."""
    try:
        result = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return result.get("outcome") if isinstance(result, dict) else None


def environment_name(spec: Any) -> str:
    """What an environment spec is called: its id, its level or its type."""
    if not isinstance(spec, Mapping):
        return str(spec)
    for key in ("gym_env", "env_id", "rom", "level_id"):
        if isinstance(spec.get(key), str):
            return str(spec[key])
    world = spec.get("world")
    return f"{spec.get('type', 'environment')} {world}" if isinstance(world, str) else str(spec.get("type"))


def read_metrics(file: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Steps and values of every column of a ``metrics.csv``; a last line that was not written to its end is left out.

    Raises:
        SpecError: it cannot be read, or a number in it is none.
    """
    try:
        with file.open(newline="") as lines:
            rows = list(csv.DictReader(lines))
    except (OSError, csv.Error) as error:
        raise SpecError(f"{file} cannot be read: {error}") from None
    if rows and None in rows[-1].values():
        rows.pop()
    columns = [name for name in (rows[0] if rows else ()) if name and name != "timesteps"]
    try:
        return {name: _column(rows, name) for name in columns}
    except (ValueError, TypeError, KeyError) as error:
        raise SpecError(f"{file} cannot be read: {error}") from None


def _column(rows: list[dict[str, str]], name: str) -> tuple[np.ndarray, np.ndarray]:
    points = [(float(row["timesteps"]), float(row[name])) for row in rows if row[name] not in ("", None)]
    points = [point for point in points if point[1] == point[1]]  # a mean of no episodes is NaN
    steps, values = zip(*points, strict=True) if points else ((), ())
    return np.array(steps), np.array(values)


def find_runs(folder: Path) -> Iterator[Path]:
    """`folder` if it is a run's, else all runs' folders below it, sorted."""
    if (folder / CONFIG).exists():
        yield folder
    elif folder.is_dir():
        for inner in sorted(folder.iterdir()):
            if inner.is_dir():
                yield from find_runs(inner)
