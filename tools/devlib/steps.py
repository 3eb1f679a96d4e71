"""`test`: every check of the repository, one after the other, with a closing table."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from devlib.environments import Environment, ensure
from devlib.output import duration, heading, run, run_and_keep, say, table
from devlib.project import ROOT, development_requirements, in_order, load_packages


def development_environment() -> Environment:
    """Every package with every extra, editable, and the development tools; examples are tested in the matrix alone."""
    # In this order, since pip looks elsewhere for a sibling with extras that it has not met yet.
    ours = [package for package in in_order(load_packages()) if not package.is_example]
    selection = {package.name: sorted(package.extras) for package in ours}
    return Environment("dev", selection, development_requirements())


def test(fast: bool, everything: bool, pytest_arguments: Sequence[str]) -> int:
    """Runs all steps even when one fails; 0 when all have passed.

    Args:
        fast: without slow tests and documentation.
        everything: with repetitions of tests on other backends.
        pytest_arguments: further arguments of pytest.
    """
    python = ensure(development_environment())
    closing: list[str] = []

    def pytest() -> int:
        left_out = [*(["slow"] if fast else []), *([] if everything else ["repetition"])]
        only = ["-m", " and ".join(f"not {mark}" for mark in left_out)]
        status, lines = run_and_keep([*pytest_command(python), *only, *pytest_arguments], cwd=ROOT)
        closing[:] = [line for line in lines if re.search(r"\bin \d+(\.\d+)?s\b", line)][-1:]
        return status

    steps: list[tuple[str, Callable[[], int]]] = [
        ("ruff check", lambda: run([python, "-m", "ruff", "check", "."], ROOT)),
        ("ruff format", lambda: run([python, "-m", "ruff", "format", "--check", "."], ROOT)),
        ("mypy", lambda: run([python, "-m", "mypy", *_typed_modules()], ROOT)),
        ("import rules", lambda: run([python.with_name("lint-imports"), "--no-logo"], ROOT)),
        ("repository", lambda: run([python, "tools/check_repository.py"], ROOT)),
        ("pytest", pytest),
    ]
    if not fast:
        steps.append(("documentation", lambda: build_docs(python)))
    return _run_steps(steps, closing)


def pytest_command(python: Path) -> list[str | Path]:
    color = ["--color=yes"] if sys.stdout.isatty() else []
    # Halves of the list, so that modules stay together, and nobody waits for one long file: the conformance suite.
    return [python, "-m", "pytest", "-n", "2", "--dist", "worksteal", *color]


def build_docs(python: Path) -> int:
    """Builds `docs/_build/html`, every warning an error."""
    sphinx: list[str | Path] = [python, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    return run([*sphinx, "docs", "docs/_build/html"], ROOT)


def _typed_modules() -> list[str]:
    """Every portion by name, since `-p rlgraph` leaves portions out without a word, and the tools."""
    portions = sorted(portion for package in load_packages().values() for portion in package.portions)
    return [
        *(argument for portion in portions for argument in ("-p", portion)),
        "-p",
        "devlib",
        "-m",
        "check_repository",
    ]


def _run_steps(steps: Sequence[tuple[str, Callable[[], int]]], closing: list[str]) -> int:
    rows, failed = [("step", "result", "time")], False
    for name, step in steps:
        heading(name)
        start = time.monotonic()
        status = step()
        failed |= status != 0
        rows.append((name, "passed" if status == 0 else "FAILED", duration(time.monotonic() - start)))
    heading("summary")
    say(table(rows))
    for line in closing:
        say(f"\n{line}")
    return int(failed)
