"""Cache of compiled programs on disk. They are executable code, so only the user may write to their folder."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from rlgraph.core.errors import RLGraphError

LIBRARY, DESCRIPTION = "program.so", "program.json"
#: Prefix of temporary folders, and seconds after which nobody writes there: a compilation takes minutes.
_ASIDE, _ABANDONED = ".new-", 86400.0


def cache_folder() -> Path:
    """``torch`` in ``RLGRAPH_CACHE``, by default ``~/.rlgraph/compiled``; created if missing.

    Raises:
        RLGraphError: it cannot be made, it belongs to another user, or others may write there.
    """
    given = os.environ.get("RLGRAPH_CACHE")
    # The compiler runs in another folder, where a relative path would change its meaning.
    root = (Path(given) if given else Path.home() / ".rlgraph" / "compiled").absolute()
    folder = root / "torch"
    for place in (root, folder):
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise RLGraphError(
                f"{place}: compiled programs are kept in this folder, and it cannot be made ({error.strerror}); "
                "name another one in RLGRAPH_CACHE"
            ) from error
        if hasattr(os, "getuid"):
            _check_private(place)
    return folder


def _check_private(folder: Path) -> None:
    found = folder.stat()
    if found.st_uid != os.getuid():
        raise RLGraphError(
            f"{folder}: compiled programs are executable code, and this folder belongs to another user; "
            "name a folder of your own in RLGRAPH_CACHE"
        )
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise RLGraphError(
            f"{folder}: compiled programs are executable code, and others may write there; chmod 700 {folder}, "
            "or name another folder in RLGRAPH_CACHE"
        )


class Cache:
    """Compiled programs by key.

    Args:
        folder: contains a folder per program.
    """

    def __init__(self, folder: Path):
        self.folder = folder

    def find(self, key: str) -> Path | None:
        """The library under `key`. A damaged one is removed, with a warning."""
        entry = self.folder / key
        if not entry.is_dir():
            return None
        try:
            description = json.loads((entry / DESCRIPTION).read_text())
            library = entry / LIBRARY
            if _digest(library) != description["sha256"]:
                raise ValueError(f"{LIBRARY} is not what was written")
            return library
        except (OSError, ValueError, KeyError, TypeError) as error:
            warnings.warn(
                f"the compiled program {entry} is damaged ({error}): it is compiled again",
                RuntimeWarning,
                stacklevel=2,
            )
            shutil.rmtree(entry, ignore_errors=True)
            return None

    def store(self, key: str, write: Callable[[Path], None]) -> Path:
        """Store the library that `write` makes under `key`; returns its path.

        It is written to a temporary folder and renamed when complete; of several processes, the first one wins.
        """
        self._remove_abandoned()
        aside = Path(tempfile.mkdtemp(prefix=_ASIDE, dir=self.folder))
        try:
            library = aside / LIBRARY
            write(library)
            for other in aside.iterdir():
                if other != library:
                    shutil.rmtree(other) if other.is_dir() else other.unlink()
            description = {"sha256": _digest(library)}
            (aside / DESCRIPTION).write_text(json.dumps(description, indent=1) + "\n")
            try:
                aside.rename(self.folder / key)
            except OSError:
                if not (self.folder / key / LIBRARY).is_file():
                    raise
            return self.folder / key / LIBRARY
        finally:
            shutil.rmtree(aside, ignore_errors=True)

    def _remove_abandoned(self) -> None:
        """Remove the temporary folders of processes that were killed."""
        for aside in self.folder.glob(f"{_ASIDE}*"):
            with suppress(OSError):  # it was renamed meanwhile
                if time.time() - aside.stat().st_mtime > _ABANDONED:
                    shutil.rmtree(aside, ignore_errors=True)


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
