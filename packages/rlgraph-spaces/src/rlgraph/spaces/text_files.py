"""Text files of limited size, which may be named by somebody else's data."""

from __future__ import annotations

import os
import stat
from pathlib import Path

MAX_BYTES = 256 * 1024
"""A longer file is no spec; reading and parsing one of this size takes about a second at most."""


def read_text(file: Path, limit: int = MAX_BYTES) -> str:
    """The text of a regular file in UTF-8.

    Args:
        file: its path.
        limit: bytes at most.

    Raises:
        OSError: it cannot be read.
        ValueError: it is a pipe, a device or a folder, is longer, or is not UTF-8.
    """
    # Opening a pipe waits for its other end, unless it is asked not to.
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is no regular file")
        content = stream.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"it has more than {limit:,} bytes")
    return content.decode("utf-8")
