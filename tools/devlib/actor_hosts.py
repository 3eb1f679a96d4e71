"""The processes of a program's actors and shards, found by their names."""

from __future__ import annotations

from contextlib import suppress

import psutil

#: What is in their command lines, on Ray and on distributed TensorFlow.
NAMES = ("ray::_RayHost", "rlgraph.execution.distributed_tf --learner")


def hosts() -> list[int]:
    """The actors and shards that this program started, the oldest first."""
    began: dict[int, float] = {}
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it ended meanwhile
            command = " ".join(process.cmdline())
            if any(name in command for name in NAMES):
                began[process.pid] = process.create_time()
    return sorted(began, key=lambda number: (began[number], number))


def resident(number: int) -> float:
    """MB of a process that are in memory; 0 if it has ended."""
    try:
        return float(psutil.Process(number).memory_info().rss) / 2**20
    except psutil.Error:
        return 0.0
