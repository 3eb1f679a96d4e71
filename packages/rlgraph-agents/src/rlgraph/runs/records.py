"""The files a run appends to while it goes on, and cuts back when it goes on from a checkpoint."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from rlgraph.core import RLGraphError
from rlgraph.workers.evaluation import Evaluation
from rlgraph.workers.metrics import METRICS

METRICS_CSV, METRICS_JSONL = "metrics.csv", "metrics.jsonl"
EPISODES, EVALUATIONS = "episodes.csv", "evaluations.jsonl"
EPISODE_COLUMNS = ("timesteps", "return", "length")


class Records:
    """``metrics.csv`` and ``metrics.jsonl``: reports and evaluations; ``episodes.csv``; ``evaluations.jsonl``.

    Every row is handed to the operating system at once: what was written survives the end of the process.

    Args:
        folder: where they are.
        sizes: file -> the bytes of it that count, as `sizes` gave them; the rest is cut off. None: new files.

    Raises:
        RLGraphError: a file is shorter than it was.
    """

    def __init__(self, folder: Path, sizes: Mapping[str, int] | None = None):
        self._files: dict[str, IO[str]] = {}
        names = (METRICS_CSV, METRICS_JSONL, EPISODES, EVALUATIONS)
        if sizes is not None:
            for name in names:
                _cut(folder / name, int(sizes[name]))
        for name in names:
            mode = "w" if sizes is None else "a"
            self._files[name] = (folder / name).open(mode, newline="", encoding="utf-8")
        if sizes is None:
            columns = tuple(METRICS)
            csv.writer(self._files[METRICS_CSV]).writerow(columns)
            csv.writer(self._files[EPISODES]).writerow(EPISODE_COLUMNS)
        else:
            with (folder / METRICS_CSV).open(newline="", encoding="utf-8") as file:
                columns = tuple(next(csv.reader(file)))
        self._metrics = csv.DictWriter(self._files[METRICS_CSV], columns, extrasaction="ignore")
        self._episodes = csv.writer(self._files[EPISODES])
        self._flush()

    def add_metrics(self, metrics: Mapping[str, float]) -> None:
        self._metrics.writerow(metrics)
        self._add_json(METRICS_JSONL, metrics)
        self._files[METRICS_CSV].flush()

    def add_episode(self, timesteps: int, episode_return: float, length: int) -> None:
        self._episodes.writerow((timesteps, episode_return, length))

    def add_evaluation(self, evaluation: Evaluation) -> None:
        self._add_json(EVALUATIONS, vars(evaluation))

    def sync(self) -> dict[str, int]:
        """Wait until all is on disk; file -> its bytes."""
        self._flush()
        for file in self._files.values():
            os.fsync(file.fileno())
        return {name: os.fstat(file.fileno()).st_size for name, file in self._files.items()}

    def close(self) -> None:
        for file in self._files.values():
            file.close()

    def _add_json(self, name: str, values: Mapping[str, Any]) -> None:
        self._files[name].write(json.dumps(values) + "\n")
        self._files[name].flush()

    def _flush(self) -> None:
        for file in self._files.values():
            file.flush()


def read_metrics(folder: Path) -> list[dict[str, float]]:
    """The rows of ``metrics.jsonl``; a last one that was cut off is left out."""
    return list(_json_lines(folder / METRICS_JSONL))


def read_evaluations(folder: Path) -> list[Evaluation]:
    """All evaluations of a run, in order."""
    return [
        Evaluation(tuple(row["returns"]), tuple(row["lengths"]), row["timesteps"])
        for row in _json_lines(folder / EVALUATIONS)
    ]


def read_episodes(folder: Path) -> tuple[list[float], list[int]]:
    """Returns and lengths of all episodes of a run, in order."""
    with (folder / EPISODES).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [float(row["return"]) for row in rows], [int(row["length"]) for row in rows]


def _json_lines(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)


def _cut(file: Path, size: int) -> None:
    present = file.stat().st_size if file.exists() else 0
    if present < size:
        raise RLGraphError(f"{file} has {present} bytes, the checkpoint was written when it had {size}")
    os.truncate(file, size)
