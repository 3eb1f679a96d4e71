"""Finds the newest valid checkpoint, also after a save was interrupted between two renames."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

from rlgraph.core.checkpoint.manifest import MANIFEST
from rlgraph.core.checkpoint.reading import Checkpoint
from rlgraph.core.errors import CheckpointError, CheckpointWarning

#: Suffixes of the temporary folders of a save: the new state, and the old one.
_ASIDE = re.compile(r"\.(?P<target>.+)\.[0-9a-f]+\.(new|old)")


def aside_names(target: Path) -> tuple[Path, Path]:
    """The temporary folders of a save: for the incomplete new state, and for the old one until it is replaced."""
    token = secrets.token_hex(4)
    return target.with_name(f".{target.name}.{token}.new"), target.with_name(f".{target.name}.{token}.old")


def leftovers(target: Path) -> list[Path]:
    """The remains of interrupted saves of `target`, newest first."""
    return _newest_first([path for path in _entries(target.parent) if _target_of(path) == target.name])


def remove_leftovers(target: Path) -> None:
    """Remove the remains of interrupted saves; the next save retries what could not be removed."""
    for path in leftovers(target):
        _, away = aside_names(target)
        try:
            # Renamed first, so that a process that still writes there fails and cannot complete a partial checkpoint.
            path.rename(away)
        except OSError:
            continue
        shutil.rmtree(away, ignore_errors=True)


def find_checkpoint(directory: str | Path) -> Path:
    """Where to read the checkpoint `directory`: itself, or the remains of a save interrupted between two renames.

    Warns:
        CheckpointWarning: `directory` itself is missing.
    """
    target = Path(directory)
    if os.path.exists(target):
        return target
    for path in leftovers(Path(os.path.realpath(target))):
        if not problem_with(path):
            _warn(_cut_off(target.name, path), stacklevel=4)
            return path
    return target


def last_valid_checkpoint(
    folder: str | Path,
    *,
    prefer: str | None = None,
    find_problem: Callable[[Path], str] | None = None,
) -> Path:
    """The newest valid checkpoint in `folder`: all files exist and match their checksums.

    Args:
        folder: the folder of checkpoints, each a directory. Remains of interrupted saves count if nothing else has that
            name.
        prefer: name of a checkpoint that is chosen if it is valid, regardless of age.
        find_problem: returns the problem of a checkpoint, or an empty text; default: damage only.

    Raises:
        CheckpointError: no checkpoint is valid; lists their problems.

    Warns:
        CheckpointWarning: about each newer checkpoint that is damaged.
    """
    folder = Path(folder)
    newest = _newest_first(_candidates(folder))
    problems: list[str] = []
    for path in sorted(newest, key=lambda path: prefer not in (path.name, _target_of(path))):
        problem = (find_problem or problem_with)(path)
        if problem:
            problems.append(problem)
            continue
        for each in problems:
            _warn(f"{each}; skipped")
        if target := _target_of(path):
            _warn(_cut_off(target, path))
        return path
    raise CheckpointError("\n".join([f"no valid checkpoint in {folder}", *problems]))


def _warn(text: str, *, stacklevel: int = 3) -> None:
    warnings.warn(text, CheckpointWarning, stacklevel=stacklevel)


def _cut_off(target: str, path: Path) -> str:
    return f"checkpoint {target} is missing, since a save was interrupted; using its remains: {path}"


def problem_with(directory: Path) -> str:
    """The problem of a checkpoint; empty if it is valid."""
    try:
        with Checkpoint(directory) as checkpoint:
            checkpoint.verify()
    except CheckpointError as error:
        return str(error)
    return ""


def _candidates(folder: Path) -> list[Path]:
    directories = [path for path in _entries(folder) if os.path.isdir(path)]
    names = {path.name for path in directories}
    return [
        path
        for path in directories
        if (_target_of(path) not in names if _target_of(path) else not path.name.startswith("."))
    ]


def _entries(folder: Path) -> list[Path]:
    """The content of `folder`; empty if it cannot be read: reading a checkpoint there then reports why."""
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _target_of(path: Path) -> str:
    match = _ASIDE.fullmatch(path.name)
    return match["target"] if match else ""


def _newest_first(paths: list[Path]) -> list[Path]:
    return sorted(paths, key=lambda path: (_time(path), path.name), reverse=True)


def _time(path: Path) -> int:
    """The time when a checkpoint was completed: its manifest is written last, and renames keep its time."""
    for place in (path / MANIFEST, path):
        try:
            return place.stat(follow_symlinks=False).st_mtime_ns
        except OSError:
            continue
    return 0
