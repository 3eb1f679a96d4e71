"""Opens regular files of a checkpoint, and syncs folders to disk."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from rlgraph.core.errors import CheckpointError

#: Does not follow links or wait for a writer of a pipe.
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))


def open_regular(file: Path, *, missing: str = "") -> BinaryIO:
    """Open `file` for unbuffered reading.

    Args:
        file: the file.
        missing: message if it does not exist.

    Raises:
        CheckpointError: it is missing, or not a regular file: a link, a pipe, a device, a directory.
    """
    if os.path.islink(file):
        raise CheckpointError(f"{file} is a symbolic link: the files of a checkpoint lie in its directory")
    try:
        descriptor = os.open(file, _FLAGS)
    except (FileNotFoundError, NotADirectoryError):
        raise CheckpointError(missing or f"{file.parent} is incomplete: {file.name} is missing") from None
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{file} cannot be read: {error}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise CheckpointError(f"{file} is not a regular file")
    return os.fdopen(descriptor, "rb", buffering=0)


def make_folder(folder: Path) -> None:
    """Create `folder` and its missing parents, and sync them to disk."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Sync the directory entries of `folder` to disk."""
    if os.name != "posix":  # other systems cannot open a folder
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
