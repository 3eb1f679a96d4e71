#!/usr/bin/env python3
"""Breaks the code in the ways that ``deliberate_breaks.toml`` lists, one at a time, and checks that a test fails.

Each break replaces one place in a throw-away copy of the repository, in which the tests that should notice it run.
The exit status is 1 if a break survives, if it cannot be tried, or if the tests fail without any.

    python3 tools/deliberate_breaks.py --jobs 2
    python3 tools/deliberate_breaks.py --only "spaces: "
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_suffix(".toml")
NOT_COPIED = shutil.ignore_patterns(".*", "_build", "generated")
SECONDS = 900.0  # after which tests count as hanging; a test that hangs notices the break


@dataclass(frozen=True)
class Break:
    """A replacement in one file, and the tests that should fail with it.

    Attributes:
        name: ``layer: what is wrong``.
        file: path below the repository.
        old: text that occurs once in the file.
        new: text in its place.
        tests: files or ids of tests.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", metavar="TEXT", default="", help="only breaks with this in their name")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    breaks = [each for each in listed_breaks() if options.only in each.name]
    if not breaks:
        parser.error(f"no break has {options.only!r} in its name")
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(options.jobs):
            copies.put(copy_repository(Path(folder) / str(number)))

        def outcome(each: Break | None) -> tuple[str, str]:
            copy = copies.get()
            try:
                return outcome_of(each, copy) if each else outcome_without_break(breaks, copy)
            finally:
                copies.put(copy)

        found: Counter[str] = Counter()
        futures = {pool.submit(outcome, each): each for each in (None, *breaks)}
        for future in as_completed(futures):
            each, (result, words) = futures[future], future.result()
            print(f"{result}: {each.name if each else 'without a break'}: {words}", flush=True)
            found[result] += 1
    print(", ".join(f"{number} {result}" for result, number in sorted(found.items())))
    return 0 if set(found) <= {"passed", "noticed"} else 1


def listed_breaks() -> list[Break]:
    """The breaks of `LIST`, layer by layer."""
    layers = tomllib.loads(LIST.read_text(encoding="utf-8"))
    return [
        Break(f"{layer}: {each['name']}", each["file"], each["old"], each["new"], tuple(each["tests"]))
        for layer, breaks in layers.items()
        for each in breaks
    ]


def copy_repository(copy: Path) -> Path:
    """A copy of the repository from which Python imports all portions of `rlgraph`."""
    shutil.copytree(ROOT, copy, ignore=NOT_COPIED, symlinks=True)
    portions = [f"rlgraph.{path.name}" for path in sorted(copy.glob("packages/*/src/rlgraph/[a-z]*"))]
    code = "import sys, importlib.util as u; print(*(u.find_spec(n).origin for n in sys.argv[1:]), sep='\\n')"
    command = [sys.executable, "-c", code, *portions]
    found = subprocess.run(command, env=environment(copy), capture_output=True, text=True, check=True).stdout
    for portion, file in zip(portions, found.splitlines(), strict=True):
        if not Path(file).is_relative_to(copy):
            raise RuntimeError(f"{portion} is imported from {file} instead of the copy {copy}")
    return copy


def environment(copy: Path) -> dict[str, str]:
    """The environment variables with which Python imports from `copy`, ahead of what is installed."""
    sources = os.pathsep.join(str(path) for path in sorted(copy.glob("packages/*/src")))
    return {**os.environ, "PYTHONPATH": sources, "OMP_NUM_THREADS": "1"}


def outcome_of(each: Break, copy: Path) -> tuple[str, str]:
    """``noticed``, ``survived`` or ``invalid``, and by which test or why."""
    try:
        with broken(each, copy):
            status, words = run_tests(each.tests, copy)
    except ValueError as error:
        return "invalid", str(error)
    return {0: "survived", 1: "noticed"}.get(status, "invalid"), words


def outcome_without_break(breaks: Sequence[Break], copy: Path) -> tuple[str, str]:
    """``passed`` or ``failed``, and which test."""
    status, words = run_tests(sorted({test for each in breaks for test in each.tests}), copy)
    return "failed" if status else "passed", words


@contextmanager
def broken(each: Break, copy: Path) -> Iterator[None]:
    """`copy` with the break; ValueError if its text is not there exactly once."""
    file = copy / each.file
    source, times = file.read_text(encoding="utf-8"), file.stat()
    if source.count(each.old) != 1:
        raise ValueError(f"{each.old!r} occurs {source.count(each.old)} times in {each.file} instead of once")
    file.write_text(source.replace(each.old, each.new), encoding="utf-8")
    try:
        yield
    finally:
        file.write_text(source, encoding="utf-8")
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))  # Python compares it with its compiled file


def run_tests(tests: Sequence[str], copy: Path) -> tuple[int, str]:
    """pytest's exit status, and the test that failed or the last line."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not repetition", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            [*command, *tests],
            cwd=copy,
            env=environment(copy),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return 1, f"hangs: {', '.join(tests)}"
    failed = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", done.stdout, re.MULTILINE)
    return done.returncode, failed[1] if failed else (done.stdout.splitlines() or [""])[-1]


if __name__ == "__main__":
    sys.exit(main())
