"""Headings, tables and running commands whose output is seen as it comes."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

_FOREIGN = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PIP_USER", "PIP_TARGET", "PIP_PREFIX")


_thread = threading.local()


@contextlib.contextmanager
def collected(file: IO[str]) -> Iterator[None]:
    """What this thread says and runs is written to `file`, not to the terminal."""
    _thread.output = file
    try:
        yield
    finally:
        del _thread.output


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
    return {name: value for name, value in os.environ.items() if name not in _FOREIGN}


def run(command: Sequence[str | Path], cwd: Path) -> int:
    """Runs a command, its output going where ours goes; its exit status."""
    output = getattr(_thread, "output", None)
    errors = subprocess.STDOUT if output else None
    words = [str(part) for part in command]
    sys.stdout.flush()
    done = subprocess.run(words, cwd=cwd, env=clean_environment(), check=False, stdout=output, stderr=errors)
    return done.returncode


def run_and_keep(command: Sequence[str | Path], cwd: Path) -> tuple[int, list[str]]:
    """As `run`, and returns the lines that were printed."""
    lines = []
    with subprocess.Popen(
        [str(part) for part in command],
        cwd=cwd,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            lines.append(line.rstrip("\n"))
    return process.returncode, lines
