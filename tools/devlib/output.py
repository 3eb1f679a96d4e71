"""Headings, tables and running commands whose output is seen as it comes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

#: Two jobs at a time: most of them use one processor each.
AT_ONCE = 2

_FOREIGN = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PIP_USER", "PIP_TARGET", "PIP_PREFIX")
# Environments are installed without bytecode: the first import leaves it, or every import would compile again.
_WITHOUT_BYTECODE = "PYTHONDONTWRITEBYTECODE"
_Result = TypeVar("_Result")

_thread = threading.local()


def side_by_side(jobs: Iterable[Callable[[], _Result]]) -> Iterator[_Result]:
    """The results of `jobs`, in order; `AT_ONCE` run at a time. What a job says and runs is printed at its end."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for printed, result in pool.map(_collected, jobs):
            say(printed)
            yield result


def _collected(job: Callable[[], _Result]) -> tuple[str, _Result]:
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as file:
        _thread.output = file
        try:
            result = job()
        finally:
            del _thread.output
        file.seek(0)
        return file.read(), result


def say(text: str = "") -> None:
    print(text, file=getattr(_thread, "output", sys.stdout), flush=True)


def heading(text: str) -> None:
    say(f"\n{'=' * 8} {text} {'=' * max(8, 90 - len(text))}")


def duration(seconds: float) -> str:
    """`"7.3 s"`, `"2 min 05 s"`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns of equal width, the first row being the heading."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    cells = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows]
    cells.insert(1, ["-" * width for width in widths])
    return "\n".join("  ".join(line).rstrip() for line in cells)


def clean_environment() -> dict[str, str]:
    """The caller's environment without what would let another Python's packages in."""
    return {name: value for name, value in os.environ.items() if name not in (*_FOREIGN, _WITHOUT_BYTECODE)}


def run(command: Sequence[str | Path], cwd: Path) -> int:
    """Runs a command, its output going where ours goes; its exit status."""
    output = getattr(_thread, "output", None)
    errors = subprocess.STDOUT if output else None
    words = [str(part) for part in command]
    sys.stdout.flush()
    done = subprocess.run(words, cwd=cwd, env=clean_environment(), check=False, stdout=output, stderr=errors)
    return done.returncode
