"""Finds the last valid checkpoint, even if a save was cut off between two renames."""

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

#: Suffixes of the temporary directories of a save: the new and the old checkpoint.
_ASIDE = re.compile(r"\.(?P<target>.+)\.[0-9a-f]+\.(new|old)")


def aside_names(target: Path) -> tuple[Path, Path]:
    """Temporary paths of a save: of the incomplete new checkpoint, and of the old one during the renames."""
    token = secrets.token_hex(4)
    return target.with_name(f".{target.name}.{token}.new"), target.with_name(f".{target.name}.{token}.old")


def leftovers(target: Path) -> list[Path]:
    """The directories left by interrupted saves of `target`, newest first."""
    return _newest_first([path for path in _entries(target.parent) if _target_of(path) == target.name])


def interrupted_saves(folder: Path) -> list[str]:
    """The names of the checkpoints in `folder` of which interrupted saves left directories."""
    return sorted({target for path in _entries(folder) if (target := _target_of(path))})


def remove_leftovers(target: Path) -> None:
    """Remove the directories of interrupted saves; the next save retries if that fails."""
    for path in leftovers(target):
        remove_checkpoint(target, path)


def remove_checkpoint(target: Path, path: Path) -> None:
    """Remove the checkpoint `target`, which lies at `path`: cut off, that leaves what an interrupted save leaves."""
    _, away = aside_names(target)
    try:
        # Rename first, so that a process that still writes there fails instead of completing a partial checkpoint.
        path.rename(away)
    except OSError:
        return
    if away.is_dir():  # rmtree waits for the writer of a pipe
        shutil.rmtree(away, ignore_errors=True)
    else:
        away.unlink()


def find_checkpoint(directory: str | Path) -> Path:
    """The path to read the checkpoint `directory` from, which may be left by a save cut off between two renames.

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
    folder: str | Path, *, prefer: str | None = None, find_problem: Callable[[Path], str] | None = None
) -> Path:
    """The newest valid checkpoint in `folder`: all files exist and match their checksums.

    Args:
        folder: a directory of checkpoints. Directories left by interrupted saves count if there is nothing else of that
            name.
        prefer: name of a checkpoint that is selected if it is valid, regardless of its age.
        find_problem: returns the problem of a checkpoint, or an empty string; default: damage only.

    Raises:
        CheckpointError: no valid checkpoint; gives the problems of the others.

    Warns:
        CheckpointWarning: for each newer checkpoint that is damaged, with the reason.
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
    raise CheckpointError("\n".join([f"there is no valid checkpoint in {folder}", *problems]))


def _warn(text: str, *, stacklevel: int = 3) -> None:
    warnings.warn(text, CheckpointWarning, stacklevel=stacklevel)


def _cut_off(target: str, path: Path) -> str:
    return f"checkpoint {target} is missing because a save was cut off; using {path}, which that save left"


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
    """The entries of `folder`; empty if it cannot be listed, since reading the checkpoint reports the reason."""
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
    """The time of completion: that of the manifest, which is written last and not changed by renames."""
    for place in (path / MANIFEST, path):
        try:
            return place.stat(follow_symlinks=False).st_mtime_ns
        except OSError:
            continue
    return 0
