"""Which checkpoint is the last one that can be relied on, also where a save was cut off between two renames."""

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

#: What a save works with beside its target: the new state, and the old one on its way out.
_ASIDE = re.compile(r"\.(?P<target>.+)\.[0-9a-f]+\.(new|old)")


def aside_names(target: Path) -> tuple[Path, Path]:
    """Where a save puts the new state until it is complete, and the old one until the new one is in place."""
    token = secrets.token_hex(4)
    return target.with_name(f".{target.name}.{token}.new"), target.with_name(f".{target.name}.{token}.old")


def leftovers(target: Path) -> list[Path]:
    """What saves of `target` that were cut off have left, newest first."""
    return _newest_first([path for path in _entries(target.parent) if _target_of(path) == target.name])


def remove_leftovers(target: Path) -> None:
    """Remove what saves that were cut off have left; what cannot be removed is left to the next save."""
    for path in leftovers(target):
        _, away = aside_names(target)
        try:
            # First out of the way: whoever may still be writing there is told so, and cannot complete a torso.
            path.rename(away)
        except OSError:
            continue
        shutil.rmtree(away, ignore_errors=True)


def find_checkpoint(directory: str | Path) -> Path:
    """Where to read the checkpoint `directory` from: there; or what a save left that was cut off between two renames.

    Warns:
        CheckpointWarning: it is not there itself.
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
    """The newest whole checkpoint in `folder`: all files are there and fit their checksums.

    Args:
        folder: where checkpoints are, each a directory. What saves that were cut off have left counts where there is
            nothing else of that name.
        prefer: name of one that is taken if it is whole, however old.
        find_problem: says what is wrong with a checkpoint, the empty text if nothing is; default: damage only.

    Raises:
        CheckpointError: there is none; says what is wrong with those that are there.

    Warns:
        CheckpointWarning: about each that would have come first and is damaged, and why.
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
    return f"checkpoint {target} is missing, a save of it was cut off; taken is what it left: {path}"


def problem_with(directory: Path) -> str:
    """What is wrong with a checkpoint; empty if nothing is."""
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
    """What is in `folder`; nothing if that cannot be said: reading a checkpoint there tells why."""
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
    """When a checkpoint was completed: its manifest comes last, and no rename touches it."""
    for place in (path / MANIFEST, path):
        try:
            return place.stat(follow_symlinks=False).st_mtime_ns
        except OSError:
            continue
    return 0
