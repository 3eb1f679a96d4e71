"""Reads text files of limited size, since untrusted data may name them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

MAX_BYTES = 256 * 1024
"""Maximum size of a spec, in bytes; reading and parsing it takes about a second at most."""


def read_text(file: Path, limit: int = MAX_BYTES) -> str:
    """The text of a regular file in UTF-8.

    Args:
        file: its path.
        limit: maximum number of bytes.

    Raises:
        OSError: it cannot be read.
        ValueError: it is a pipe, a device or a folder, too long, or not UTF-8.
    """
    # Without O_NONBLOCK, opening a pipe waits for its other end.
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is not a regular file")
        content = stream.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"it has more than {limit:,} bytes")
    return content.decode("utf-8")
