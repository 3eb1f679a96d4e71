"""`test`: every check of the repository, two at a time, with a closing table."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from devlib.environments import Environment, ensure
from devlib.output import AT_ONCE, duration, heading, run, say, side_by_side, table
from devlib.project import ROOT, Package, development_requirements, load_packages

#: Folders of tests that take minutes in a fresh clone and seldom fail alone: `test --fast` leaves them out.
LEFT_OUT_IN_FAST = (
    "packages/rlgraph-core/tests/testing",
    "packages/rlgraph-agents/tests/cli",
    "packages/rlgraph-agents/tests/runs",
    "tools/tests",
)


def development_environment() -> Environment:
    """Every package with every extra, editable, and the development tools; examples are tested in the matrix alone.

    Extras that must be compiled are left out.
    """
    selection = {
        package.name: sorted(package.extras.keys() - package.built_extras) for package in _packages()
    }
    return Environment("dev", selection, development_requirements())


def test(fast: bool, everything: bool, pytest_arguments: Sequence[str]) -> int:
    """Runs all steps even when one fails; 0 when all have passed.

    Args:
        fast: without slow tests, `LEFT_OUT_IN_FAST`, types and documentation.
        everything: with repetitions of tests on other backends.
        pytest_arguments: further arguments of pytest.
    """
    python = ensure(development_environment())
    left_out = [*(["slow"] if fast else []), *([] if everything else ["repetition"])]
    only = ["-m", " and ".join(f"not {mark}" for mark in left_out)] if left_out else []
    commands: list[tuple[str, list[str | Path]]] = [
        ("ruff check", [python, "-m", "ruff", "check", "."]),
        ("ruff format", [python, "-m", "ruff", "format", "--check", "."]),
        ("import rules", [python.with_name("lint-imports"), "--no-logo"]),
        ("repository", [python, "tools/check_repository.py"]),
    ]
    if pytest_arguments:
        commands.append(("tests", [*pytest_command(python), "-n", str(AT_ONCE), *only, *pytest_arguments]))
    else:
        ignored = [ROOT / folder for folder in LEFT_OUT_IN_FAST] if fast else []
        only += [f"--ignore={folder}" for folder in ignored]
        commands += [
            (f"tests of {folder.parent.name}", [*pytest_command(python), *only, folder])
            for folder in _test_folders()
            if folder not in ignored
        ]
    if not fast:
        commands.append(("mypy", [python, "-m", "mypy", *_typed_modules()]))
        commands.append(("documentation", _sphinx(python)))
    return _run_steps(commands)


def pytest_command(python: Path) -> list[str | Path]:
    return [python, "-m", "pytest", *(["--color=yes"] if sys.stdout.isatty() else [])]


def build_docs(python: Path) -> int:
    """Builds `docs/_build/html`, every warning an error."""
    return run(_sphinx(python), ROOT)


def _sphinx(python: Path) -> list[str | Path]:
    return [python, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", "docs/_build/html"]


def _packages() -> list[Package]:
    return [package for package in load_packages().values() if not package.is_example]


def _test_folders() -> list[Path]:
    """A process for each imports every test once; the largest come first, so that none begins when all others end."""
    folders = [*(package.folder / "tests" for package in _packages()), ROOT / "tools" / "tests"]
    return sorted(folders, key=lambda folder: -sum(1 for _ in folder.rglob("test_*.py")))


def _typed_modules() -> list[str]:
    """Every portion by name, since `-p rlgraph` leaves portions out without a word, and the tools."""
    portions = sorted(portion for package in load_packages().values() for portion in package.portions)
    return [
        *(argument for portion in portions for argument in ("-p", portion)),
        *("-p", "devlib", "-m", "check_repository", "-m", "harness"),
    ]


def _run_steps(commands: Sequence[tuple[str, list[str | Path]]]) -> int:
    say(f"{len(commands)} steps, {AT_ONCE} at a time; each prints when it is done.")
    rows = [("step", "result", "time")]
    rows += side_by_side([partial(_run_step, name, command) for name, command in commands])
    heading("summary")
    say(table(rows))
    return int(any(row[1] != "passed" for row in rows[1:]))


def _run_step(name: str, command: Sequence[str | Path]) -> tuple[str, str, str]:
    heading(name)
    start = time.monotonic()
    status = run(command, ROOT)
    return name, "passed" if status == 0 else "FAILED", duration(time.monotonic() - start)
