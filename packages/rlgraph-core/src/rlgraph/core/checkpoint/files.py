"""Files of a checkpoint: what may be opened, and what is on disk for certain."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from rlgraph.core.errors import CheckpointError

#: Not through links, and without waiting for somebody to write into a pipe.
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))


def open_regular(file: Path, *, missing: str = "") -> BinaryIO:
    """`file` for reading, unbuffered.

    Args:
        file: which.
        missing: what to say if it does not exist.

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
    """Make `folder` and those above it that are missing, so that a power failure does not take them back."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the names in `folder` are on disk."""
    if os.name != "posix":  # elsewhere a folder cannot be opened
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
