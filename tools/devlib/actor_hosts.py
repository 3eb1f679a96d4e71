"""The processes of a program's actors and shards, found by their names in /proc (Linux)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

#: What is in their command lines, on Ray and on distributed TensorFlow.
NAMES = (b"ray::_RayHost", b"rlgraph.execution.distributed_tf\0--learner")


def hosts() -> list[int]:
    """The actors and shards that this program started, the oldest first."""
    parents: dict[int, int] = {}
    began: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            parents[int(folder.name)] = int(fields[1])
            command = (folder / "cmdline").read_bytes()
            if any(name in command for name in NAMES):
                began[int(folder.name)] = int(fields[19])
        except OSError:  # it ended meanwhile
            continue
    ours = [number for number in began if os.getpid() in _ancestors(number, parents)]
    return sorted(ours, key=lambda number: (began[number], number))


def _ancestors(number: int, parents: Mapping[int, int]) -> Iterator[int]:
    while number in parents:
        number = parents[number]
        yield number


def resident(number: int) -> float:
    """MB of a process that are in memory; 0 if it has ended."""
    try:
        pages = int(Path(f"/proc/{number}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
