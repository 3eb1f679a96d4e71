"""`matrix`: every package is tested from its wheel, in a clean environment, from outside the repository.

The rows are data: `[[tool.rlgraph.matrix]]` in each package's `pyproject.toml`. The continuous integration
reads the same rows (`matrix --json`).
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from devlib.environments import EnvironmentFailure, create, describe_size, pip_install
from devlib.output import duration, heading, run, say, table
from devlib.project import ROOT, Package, external_requirements, load_packages, with_siblings
from devlib.steps import pytest_command

_CHECK = """
import importlib, importlib.util, pkgutil, sys
root, portions, absent = sys.argv[1], sys.argv[2].split(","), sys.argv[3].split(",")
def there(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
problems = [f"{name} can be imported here" for name in absent if name and there(name)]
for portion in portions:
    module = importlib.import_module(portion)
    if module.__file__.startswith(root):
        problems.append(f"{portion} comes from the repository: {module.__file__}")
problems += [f"{name} was imported" for name in absent if name in sys.modules]
sys.exit("\\n".join(problems) or 0)
"""


@dataclass(frozen=True)
class Row:
    """One clean environment: a package, what is installed beside it, and what must not be there.

    Attributes:
        tests: the folder of its tests.
        only: files and folders in it, for a row that repeats another one but for an extra; empty: all.
    """

    name: str
    package: str
    beside: tuple[str, ...]
    extras: tuple[str, ...]
    requirements: tuple[str, ...]
    absent: tuple[str, ...]
    tests: str
    only: tuple[str, ...]


def rows_of(packages: Mapping[str, Package]) -> list[Row]:
    """All rows of all packages, the packages without siblings first."""
    return [
        Row(
            name=entry["name"],
            package=name,
            beside=tuple(entry["with"]),
            extras=tuple(entry["extras"]),
            requirements=tuple(entry["requirements"]),
            absent=tuple(entry["absent"]),
            tests=entry["tests"],
            only=tuple(entry.get("only", ())),
        )
        for name in with_siblings(packages, packages)
        for entry in packages[name].matrix
    ]


def main(options: argparse.Namespace) -> int:
    """Runs the rows; 0 when all have passed."""
    packages = load_packages()
    rows = rows_of(packages)
    if options.only:
        unknown = set(options.only) - {row.name for row in rows}
        if unknown:
            say(f"No row {', '.join(sorted(unknown))}; there are: {', '.join(row.name for row in rows)}.")
            return 2
        rows = [row for row in rows if row.name in options.only]
    if options.json:
        say(json.dumps([{"name": row.name, "package": row.package} for row in rows]))
        return 0
    folder = Path(tempfile.mkdtemp(prefix="rlgraph-matrix-"))
    try:
        return _run(rows, packages, folder, options.keep)
    finally:
        if options.keep:
            say(f"\nKept {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _run(rows: Sequence[Row], packages: Mapping[str, Package], folder: Path, keep: bool) -> int:
    heading("wheels")
    needed = with_siblings([name for row in rows for name in (row.package, *row.beside)], packages)
    wheels = build_wheels([packages[name] for name in needed], folder)
    lines = [("row", "package", "result", "time")]
    for row in rows:
        heading(f"{row.name}: {row.package}{' with ' + ', '.join(row.beside) if row.beside else ''}")
        start = time.monotonic()
        try:
            result = _run_row(row, packages, wheels, folder / row.name)
        except EnvironmentFailure as failure:
            say(str(failure))
            result = "not installed"
        if not keep:
            shutil.rmtree(folder / row.name, ignore_errors=True)
        lines.append((row.name, row.package, result, duration(time.monotonic() - start)))
    heading("summary")
    say(table(lines))
    return int(any(line[2] != "passed" for line in lines[1:]))


def build_wheels(packages: Sequence[Package], folder: Path) -> dict[str, Path]:
    """One wheel per package, by name; each is looked into."""
    python = create(folder / "build")
    wheels = {}
    for package in packages:
        target = folder / "wheels" / package.name
        build: list[str | Path] = [
            python,
            "-m",
            "pip",
            "wheel",
            "--disable-pip-version-check",
            "--quiet",
            "--no-deps",
        ]
        if run([*build, "-w", target, package.folder], cwd=folder) != 0:
            raise EnvironmentFailure(f"The wheel of {package.name} could not be built.")
        (wheels[package.name],) = target.glob("*.whl")
        problems = wheel_problems(wheels[package.name], package)
        if problems:
            raise EnvironmentFailure("\n".join(problems))
        say(f"built {wheels[package.name].name}")
    return wheels


def wheel_problems(wheel: Path, package: Package) -> list[str]:
    """What is wrong with the contents of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    problems = []
    if "rlgraph/__init__.py" in names:
        problems.append(f"{wheel.name} holds rlgraph/__init__.py, but nobody owns the namespace")
    for portion in package.portions:
        if f"{portion.replace('.', '/')}/py.typed" not in names:
            problems.append(f"{wheel.name} lacks {portion.replace('.', '/')}/py.typed")
    sources = {path.relative_to(package.source).as_posix() for path in package.source.rglob("*.py")}
    if sources - names:
        problems.append(f"{wheel.name} lacks {', '.join(sorted(sources - names))}")
    return problems


def _run_row(row: Row, packages: Mapping[str, Package], wheels: Mapping[str, Path], folder: Path) -> str:
    names = with_siblings([row.package, *row.beside], packages)
    selection = {name: row.extras if name == row.package else () for name in names}
    say(f"Installing, {describe_size(external_requirements(selection, packages))}.")
    python = create(folder / "venv")
    extras = f"[{','.join(row.extras)}]" if row.extras else ""
    targets = [str(wheels[name]) + (extras if name == row.package else "") for name in names]
    pip_install(python, [*targets, *row.requirements], quiet=True)

    portions = [portion for name in names for portion in packages[name].portions]
    if run([python, "-m", "pip", "check", "--disable-pip-version-check"], cwd=folder) != 0:
        return "pip check FAILED"
    if run([python, "-c", _CHECK, str(ROOT), ",".join(portions), ",".join(row.absent)], cwd=folder) != 0:
        return "imports FAILED"

    shutil.copytree(packages[row.package].folder / row.tests, folder / "tests")
    shutil.copy(ROOT / "pyproject.toml", folder / "pyproject.toml")  # the settings of pytest
    status = run([*pytest_command(python), *(f"tests/{part}" for part in row.only or ".")], cwd=folder)
    return "passed" if status == 0 else "tests FAILED"
