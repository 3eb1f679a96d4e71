"""What attacks, kills and soaks share: arguments, processes, limits of time, memory over time, verdicts."""

from __future__ import annotations

import argparse
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

import psutil

#: What is in the command lines of actors and shards, on Ray and on distributed TensorFlow.
HOSTS = ("ray::_RayHost", "rlgraph.execution.distributed_tf --learner")
SHARED_MEMORY = Path("/dev/shm")
#: Seconds between two readings of memory, and between two lines that are printed.
READING, LINE = 5.0, 60.0


def parser_of(description: str | None, seed: int | None = None) -> argparse.ArgumentParser:
    """The arguments of a script, with ``--seed`` if there is a default; one thread from here on, in children too."""
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    if seed is not None:
        parser.add_argument("--seed", type=int, default=seed, help="of what is drawn")
    return parser


def verdict(problems: Sequence[str], done: str = "") -> int:
    """Print what was done and what was wrong; the exit code."""
    print(*filter(None, [done]), *problems or ["nothing was wrong"], sep="\n", flush=True)
    return int(bool(problems))


# Documents, and commands in this process.


def places_of(content: Any, path: str = "") -> Iterator[tuple[Any, Any, str]]:
    """Every value in a nested document: what holds it, its key there, and its path."""
    pairs = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in list(pairs):
        yield content, key, f"{path}.{key}"
        if isinstance(value, dict | list):
            yield from places_of(value, f"{path}.{key}")


class TimeLimit(BaseException):
    """Something hangs; no error that code under test may catch."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `TimeLimit` in what takes longer."""

    def stop(*_: Any) -> None:
        raise TimeLimit

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def command_line(*arguments: str) -> tuple[int, str]:
    """The exit code of ``rlgraph`` with these arguments, and all that it wrote."""
    from rlgraph.cli.main import main

    before, words = sys.argv, io.StringIO()
    sys.argv = ["rlgraph", *arguments]
    try:
        with redirect_stdout(words), redirect_stderr(words):
            return int(main()), words.getvalue()
    finally:
        sys.argv = before


def without_pictures() -> None:
    """Draw nothing for the runs of this process: pictures take longer than short runs."""
    import rlgraph.runs.curve
    from rlgraph.runs.run_folder import RunFolder

    RunFolder.draw_graph = lambda self: None  # type: ignore[method-assign]
    rlgraph.runs.curve.draw_curve = lambda history, evaluations, file, *_: file.write_text("picture")


# Processes.


def start(module: str, *arguments: str, output: Any, place: Path | None = None) -> subprocess.Popen[bytes]:
    """``python -m MODULE ARGUMENTS`` in a folder; when asked to abort it prints where each of its threads is."""
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdout=output,
        stderr=subprocess.STDOUT,
        cwd=place,
        env={**os.environ, "PYTHONFAULTHANDLER": "1"},
    )


def children(parent: int | None, words: Iterable[str], recursive: bool = False) -> list[int]:
    """The processes that one started (None: this one) with one of the words in their command lines, oldest first."""
    found = []
    with suppress(psutil.Error):  # the parent ended
        for process in psutil.Process(parent).children(recursive=recursive):
            with suppress(psutil.Error):  # it ended meanwhile
                if any(word in " ".join(process.cmdline()) for word in words):
                    found.append((process.create_time(), process.pid))
    return [number for _, number in sorted(found)]


def hosts() -> list[int]:
    """The actors and shards that this program started, the oldest first."""
    return children(None, HOSTS, recursive=True)


def is_alive(number: int) -> bool:
    """True until a process has ended."""
    with suppress(psutil.Error):
        return bool(psutil.Process(number).status() != psutil.STATUS_ZOMBIE)
    return False


def wait(is_so: Callable[[], bool], seconds: float) -> bool:
    """Wait until something is so; False if it takes longer."""
    until = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


# What is left.


class Leftovers:
    """What programs that are started from here on leave in shared memory and among temporary files.

    Args:
        place: a folder, in which one for temporary files is made.
    """

    def __init__(self, place: Path):
        self._memory, self._temporary = set(SHARED_MEMORY.glob("*")), place / "temporary"
        self._temporary.mkdir()
        os.environ["TMPDIR"] = str(self._temporary)

    def found(self, seconds: float = 5.0) -> list[str]:
        """What is there after some seconds, if it is not removed before."""
        wait(lambda: not self._now(), seconds)
        return [f"left: {path}" for path in self._now()]

    def _now(self) -> list[Path]:
        return sorted({*SHARED_MEMORY.glob("*"), *self._temporary.iterdir()} - self._memory)


def unfinished_in(folder: Path) -> list[str]:
    """The temporary files and folders that are left in a run's folder."""
    suffixes = (".new", ".old", ".tmp")
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.suffix in suffixes)


# Runs.


def size_of_metrics(folder: Path) -> int:
    """Bytes of the reports that a run has written."""
    file = folder / "metrics.jsonl"
    return file.stat().st_size if file.exists() else 0


def not_learned(folder: Path, least: float) -> list[str]:
    """What is wrong with the last evaluation of a finished run, whose mean return is at least `least`."""
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    returns = result["evaluation"]["returns"]
    mean = sum(returns) / len(returns)
    print(f"finished with a mean return of {mean:.1f}; {len(result['departures'])} departures", flush=True)
    return [] if mean >= least else [f"learned {mean:.1f}, expected {least}"]


def small_agent(flow: str, capacity: int, update_interval: int) -> dict[str, Any]:
    """The spec of a small agent for an executor; what Ape-X keeps, and how often it updates."""
    updates = {"steps_before_update": 200, "update_interval": update_interval, "batch_size": 16}
    agents: dict[str, dict[str, Any]] = {
        "sync_batch": {"type": "ppo", "rollout_length": 16, "num_epochs": 1, "num_minibatches": 1},
        "impala": {"type": "impala", "rollout_length": 16},
        "apex": {"type": "apex", "memory_spec": {"capacity": capacity}, "update_spec": updates},
    }
    return {**agents[flow], "network_spec": [16], "execution_spec": {"threads": 1}}


# Memory.


class Memory:
    """The resident memory of some processes during a run.

    Args:
        minutes: that the run takes.
        warm_up: share of the time whose readings do not count.
        limit: MB per minute.
    """

    def __init__(self, minutes: float, warm_up: float, limit: float):
        self.minutes, self.warm_up, self.limit = minutes, warm_up, limit
        self._began, self._readings = time.monotonic(), list[tuple[float, ...]]()
        self._next_reading = self._next_line = 0.0

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self._began

    def read(self, timesteps: int, processes: Callable[[], Sequence[int]]) -> bool:
        """Read the memory if it is time, and print a line each minute; True when the run should end."""
        if (seconds := self.seconds) >= self._next_reading:
            self._next_reading = seconds + READING
            self._readings.append((seconds / 60, *map(resident, processes())))
        if seconds >= self._next_line:
            self._next_line = seconds + LINE
            shown = " ".join(f"{size:8.1f}" for size in self._readings[-1][1:])
            print(f"{seconds / 60:5.1f} min {timesteps:>12,} steps {shown} MB", flush=True)
        return seconds >= 60 * self.minutes

    def verdict(self, names: Sequence[str], where: str) -> int:
        """Print how the memory of each process grows after the warm-up; the exit code."""
        warm = [reading for reading in self._readings if reading[0] >= self.warm_up * self.minutes]
        slopes = [slope_of([(each[0], each[1 + place]) for each in warm]) for place in range(len(names))]
        is_met = all(slope <= self.limit for slope in slopes)
        found = ", ".join(f"{name} {slope:+.3f}".strip() for name, slope in zip(names, slopes, strict=True))
        print(
            f"{found} MB/min over {self.minutes:g} minutes {where}, target <= {self.limit:g}: "
            f"{'met' if is_met else 'missed'}"
        )
        return int(not is_met)


def resident(number: int) -> float:
    """MB of a process that are in memory; 0 if it has ended."""
    with suppress(psutil.Error):
        return float(psutil.Process(number).memory_info().rss) / 2**20
    return 0.0


def slope_of(readings: Sequence[tuple[float, float]]) -> float:
    """Least squares: MB per minute; NaN of less than two readings."""
    count = len(readings)
    if count < 2:
        return float("nan")
    x_mean = sum(x for x, _ in readings) / count
    y_mean = sum(y for _, y in readings) / count
    spread = sum((x - x_mean) ** 2 for x, _ in readings)
    return sum((x - x_mean) * (y - y_mean) for x, y in readings) / spread
