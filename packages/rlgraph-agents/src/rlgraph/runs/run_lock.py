"""The lock of a run folder: one process at a time trains in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rlgraph.runs.errors import RunFolderError
from rlgraph.runs.run_files import open_to_write

try:
    import fcntl
except ImportError:  # missing on Windows, which has no lock
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"


@contextmanager
def run_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a run folder; the operating system releases it when the process ends.

    There is no lock if `folder` does not exist, and on file systems without locks.

    Raises:
        RunFolderError: another process holds it, or this one in another thread.
        StorageError: the lock file cannot be opened.
    """
    if fcntl is None or not folder.is_dir():
        yield
        return
    descriptor = open_to_write(folder / LOCK)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 20).decode(errors="replace").strip()
            raise RunFolderError(
                f"{folder} is in use: the process {holder} trains there. Wait for its end, stop it, or give another "
                "folder"
            ) from None
        except OSError:  # a file system without locks
            pass
        with suppress(OSError):  # the process id is for the message only
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(descriptor)
