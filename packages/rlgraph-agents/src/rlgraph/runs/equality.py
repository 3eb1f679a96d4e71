"""Bitwise comparison of two runs, except times."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rlgraph.core import SpecError
from rlgraph.runs.records import EPISODES, EVALUATIONS, METRICS_CSV, METRICS_JSONL, csv_rows, json_lines
from rlgraph.runs.run_files import open_to_read, read_json, without
from rlgraph.workers.metrics import TIMES

#: Keys of ``result.json`` that hold times, or digests of files with times.
_RESULT_TIMES = (
    "records",
    "runtime",
    "ops_per_second",
    "env_frames_per_second",
    "episodes_per_minute",
    "mean_episode_runtime",
)


def run_differences(one: str | Path, other: str | Path) -> list[str]:
    """The differences between two finished runs of one document, one per line; empty if they are equal.

    Compares metrics without times, episodes, evaluations, the result, and all checkpoints: weights, optimizer state,
    memory, random streams, counters.
    """
    one, other = Path(one), Path(other)
    readers: dict[str, Callable[[Path], Any]] = {
        METRICS_CSV: _read_csv,
        METRICS_JSONL: _read_lines,
        EPISODES: _digest,
        EVALUATIONS: _digest,
        "result.json": _read_result,
    }
    differences = [
        f"{name} differs"
        for name, read in readers.items()
        if _read(read, one / name) != _read(read, other / name)
    ]
    return differences + _checkpoint_differences(one / "checkpoints", other / "checkpoints")


def _checkpoint_differences(one: Path, other: Path) -> list[str]:
    names = [_names(folder) for folder in (one, other)]
    if names[0] != names[1]:
        return [f"checkpoints: {', '.join(names[0])} and {', '.join(names[1])}"]
    lines = []
    for name in names[0]:
        files = sorted({file for folder in (one, other) for file in _names(folder / name)})
        for file in files:
            read = _read_manifest if file == "manifest.json" else _digest
            if _read(read, one / name / file) != _read(read, other / name / file):
                lines.append(f"checkpoints/{name}/{file} differs")
    return lines


def _read(read: Callable[[Path], Any], file: Path) -> Any:
    """The compared content, or an error for a damaged file, which equals nothing."""
    try:
        return read(file) if os.path.lexists(file) else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError, SpecError) as error:
        return error


def _names(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def _digest(file: Path) -> str:
    with open_to_read(file) as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _read_csv(file: Path) -> list[dict[str, str]]:
    return list(csv_rows(file, lambda row: without(row, *TIMES)))


def _read_lines(file: Path) -> list[dict[str, Any]]:
    return list(json_lines(file, lambda row: without(row, *TIMES)))


def _read_result(file: Path) -> dict[str, Any]:
    return without(read_json(file), *_RESULT_TIMES)


def _read_manifest(file: Path) -> dict[str, Any]:
    """Remove the training time, digests of files with times or run-specific content, and their checksum."""
    content = without(read_json(file), "checksum")
    content["facts"].pop("config", None)
    run = content["facts"].pop("run", None)
    if run is not None:
        content["run"] = {
            **without(run, "records", "config"),
            "worker": without(run["worker"], "seconds"),
        }
    return content
