"""Whether two runs are the same run: everything but times, bit for bit."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rlgraph.runs.records import EPISODES, EVALUATIONS, METRICS_CSV, METRICS_JSONL
from rlgraph.workers.metrics import TIMES

#: Of ``result.json``: times, and digests of files that hold times.
_RESULT_TIMES = (
    "records",
    "runtime",
    "ops_per_second",
    "env_frames_per_second",
    "episodes_per_minute",
    "mean_episode_runtime",
)


def run_differences(one: str | Path, other: str | Path) -> list[str]:
    """What differs between two finished runs of one document, a line each; empty: they are equal.

    Compared are metrics without their times, episodes, evaluations, the result, and all checkpoints: weights,
    optimizer state, memory, random streams, counters.
    """
    one, other = Path(one), Path(other)
    readers: dict[str, Callable[[Path], Any]] = {
        METRICS_CSV: _read_csv,
        METRICS_JSONL: _read_lines,
        EPISODES: Path.read_text,
        EVALUATIONS: Path.read_text,
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
        files = sorted({file.name for folder in (one, other) for file in (folder / name).iterdir()})
        for file in files:
            read = _read_manifest if file == "manifest.json" else _digest
            if _read(read, one / name / file) != _read(read, other / name / file):
                lines.append(f"checkpoints/{name}/{file} differs")
    return lines


def _read(read: Callable[[Path], Any], file: Path) -> Any:
    """What is compared; the error where a file is damaged, which equals nothing."""
    try:
        return read(file) if file.exists() else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError, csv.Error) as error:
        return error


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _read_csv(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as handle:
        return [_without(row, TIMES) for row in csv.DictReader(handle)]


def _read_lines(file: Path) -> list[dict[str, Any]]:
    return [_without(json.loads(line), TIMES) for line in file.read_text(encoding="utf-8").splitlines()]


def _read_result(file: Path) -> dict[str, Any]:
    return _without(json.loads(file.read_text(encoding="utf-8")), _RESULT_TIMES)


def _read_manifest(file: Path) -> dict[str, Any]:
    """Without the time of training, digests of what holds times or differs for each run, and the checksum over both."""
    content: dict[str, Any] = _without(json.loads(file.read_text(encoding="utf-8")), ("checksum",))
    run = content["facts"].pop("run", None)
    if run is not None:
        content["run"] = {
            **_without(run, ("records", "config")),
            "worker": _without(run["worker"], ("seconds",)),
        }
    return content


def _without(mapping: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in mapping.items() if name not in names}
