"""`matrix`: every package is checked from its wheel, in a clean environment, from outside the repository.

The rows are data: `[[tool.rlgraph.matrix]]` in each package's `pyproject.toml`. The continuous integration
reads the same rows (`matrix --json`). `tools/check_installed.py` holds the checks of an installed row.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from devlib.distributions import build, tagged_package, tagged_versions
from devlib.environments import (
    EnvironmentFailure,
    constraints_file,
    create,
    describe_size,
    pip_install,
    python_of,
)
from devlib.output import AT_ONCE, duration, heading, run, say, side_by_side, table
from devlib.project import (
    ROOT,
    Package,
    admits,
    external_requirements,
    in_order,
    load_packages,
    lowest_versions,
    requirement_name,
    with_siblings,
)
from devlib.steps import pytest_command

_TEST_REQUIREMENTS = (
    "pytest",
    "pytest-xdist",
    "hypothesis",
    "jsonschema",
    "safetensors",
    "scipy",
    "tensorboard",
)


@dataclass(frozen=True)
class Row:
    """What is installed beside a package, what must not be there, and what is checked.

    Attributes:
        after: an earlier row, whose environment this one extends; empty: an environment of its own.
        beside: other packages of this repository.
        absent: modules that must not be importable.
        checks: functions of `tools/check_installed.py`.
        lowest: install the lowest third-party versions that the packages' ranges admit.
        oldest: a sibling of which the oldest tagged version is installed that the package's range admits.
        cases: other packages whose tests run too, or ``package/file`` of their tests -> the word that a test's id has.
    """

    name: str
    package: str
    after: str
    beside: tuple[str, ...]
    extras: tuple[str, ...]
    absent: tuple[str, ...]
    checks: tuple[str, ...]
    lowest: bool
    oldest: str
    cases: Mapping[str, str]

    def selection(self, packages: Mapping[str, Package]) -> dict[str, tuple[str, ...]]:
        """The packages that are installed, each with its extras."""
        return with_siblings([f"{self.package}[{','.join(self.extras)}]", *self.beside], packages)


def rows_of(packages: Mapping[str, Package]) -> list[Row]:
    """All rows of all packages, the packages without siblings first."""
    lists = ("extras", "absent", "checks")
    return [
        Row(
            name=entry["name"],
            package=package.name,
            after=entry.get("after", ""),
            beside=tuple(entry.get("with", ())),
            lowest=entry.get("lowest", False),
            oldest=entry.get("oldest", ""),
            cases=entry.get("cases", {}),
            **{key: tuple(entry.get(key, ())) for key in lists},
        )
        for package in in_order(packages)
        for entry in package.matrix
    ]


def chains_of(rows: Sequence[Row], apart: bool) -> list[list[Row]]:
    """The rows that share an environment, each list in the order of installation; `apart`: none share one."""
    chains: list[list[Row]] = []
    for row in rows:
        chain = next((c for c in chains if c[-1].name == row.after and not apart), None)
        if chain is None:
            chains.append([row])
        else:
            chain.append(row)
    return chains


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
        return _Matrix(packages, folder, options.keep, options.all).run(rows)
    finally:
        if options.keep:
            say(f"\nKept {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


#: What a module that builds an extra exits with where that is not possible; it says why.
_NOT_POSSIBLE = 3


class _LeftOut(Exception):
    """A row cannot be tried here; the message says why."""


@dataclass
class _Matrix:
    packages: Mapping[str, Package]
    folder: Path
    keep: bool
    all: bool
    """Run the whole test folders too, which needs an environment for each row."""

    def run(self, rows: Sequence[Row]) -> int:
        heading("wheels")
        needed = {name for row in rows for name in row.selection(self.packages)}
        self.wheels = {
            name: build(self.packages[name], self.folder, self.folder / "wheels") for name in sorted(needed)
        }
        lines = [("row", "package", "result", "time")]
        chains = chains_of(rows, apart=self.all)
        say(
            f"\n{len(rows)} rows in {len(chains)} environments, {AT_ONCE} at a time; each prints when it is done."
        )
        for results in side_by_side([partial(self._run_chain, chain) for chain in chains]):
            lines += results
        heading("summary")
        say(table(lines))
        return int(any(not line[2].startswith(("passed", "left out")) for line in lines[1:]))

    def _run_chain(self, chain: Sequence[Row]) -> list[tuple[str, str, str, str]]:
        """Runs rows that share an environment; a line of the summary for each."""
        environment = self.folder / chain[0].name
        lines = []
        for row in chain:
            heading(f"{row.name}: {row.package}{' with ' + ', '.join(row.beside) if row.beside else ''}")
            start = time.monotonic()
            try:
                result = self._run_row(row, environment)
            except EnvironmentFailure as failure:
                say(str(failure))
                result = "not installed"
            except _LeftOut as reason:
                result = f"left out: {reason}"
            lines.append((row.name, row.package, result, duration(time.monotonic() - start)))
        if not self.keep:
            shutil.rmtree(environment, ignore_errors=True)
        return lines

    def _run_row(self, row: Row, environment: Path) -> str:
        selection = row.selection(self.packages)
        if row.oldest:
            version = self._oldest(row)
            if version == self.packages[row.oldest].version:
                say(f"The oldest {row.oldest} that {row.package} admits is the present one, {version}.")
                return "passed"
            selection = {row.package: row.extras}
            python = self._install_with_oldest(row, version, environment)
        else:
            python = self._install(row, selection, environment)
            self._build_extras(row, python, environment)
        if run([python, "-m", "pip", "check", "--disable-pip-version-check"], cwd=environment) != 0:
            return "pip check FAILED"
        folder = environment / row.name
        folder.mkdir()
        script = shutil.copy(ROOT / "tools" / "check_installed.py", folder)
        facts = {
            "root": str(ROOT),
            "distributions": list(selection),
            "portions": [portion for name in selection for portion in self.packages[name].portions],
            "optional": self._optional_modules(selection),
            **{key: getattr(row, key) for key in ("extras", "absent", "checks")},
        }
        if run([python, "-I", script, json.dumps(facts)], cwd=folder) != 0:
            return "checks FAILED"
        package = self.packages[row.package]
        if row.lowest or not (self.all or package.is_example):  # `test` leaves out examples
            return "passed"
        pip_install(python, _TEST_REQUIREMENTS, quiet=True)
        shutil.copy(ROOT / "pyproject.toml", folder)  # the settings of pytest
        left_out = [] if self.all else ["-m", "not repetition"]
        for name, case in {row.package: "", **row.cases}.items():
            package_name, _, file = name.partition("/")
            tests = folder / "tests" / package_name
            shutil.copytree(self.packages[package_name].folder / "tests", tests)
            only = ["-k", case] if case else []
            if run([*pytest_command(python), *left_out, *only, tests / file], cwd=folder) != 0:
                return f"tests of {name} FAILED"
        return "passed"

    def _build_extras(self, row: Row, python: Path, environment: Path) -> None:
        """Compiles the extras of the row that are not installed from the package index.

        Raises:
            _LeftOut: there is no compiler, or not the time.
            EnvironmentFailure: it fails.
        """
        built = self.packages[row.package].built_extras
        for extra in [extra for extra in row.extras if extra in built]:
            command: list[str | Path] = [python, "-m", built[extra], "--minutes", "10"]
            status = run(command, cwd=environment)
            if status == _NOT_POSSIBLE:
                raise _LeftOut(f"{extra} cannot be built here")
            if status:
                raise EnvironmentFailure(f"{built[extra]} failed; see above")

    def _optional_modules(self, selection: Mapping[str, Sequence[str]]) -> list[str]:
        """What need not be importable: it belongs to an extra that is not selected."""
        return [
            module
            for name, extras in selection.items()
            for extra, modules in self.packages[name].optional_modules.items()
            if extra not in extras
            for module in modules
        ]

    def _oldest(self, row: Row) -> str:
        """The lowest version of `row.oldest` that has a tag and that the row's package admits; else the present one."""
        requirements = self.packages[row.package].requirements
        (range_,) = (r for r in requirements if requirement_name(r) == row.oldest)
        versions = [*tagged_versions(row.oldest), self.packages[row.oldest].version]
        return next(version for version in versions if admits(range_, version))

    def _install_with_oldest(self, row: Row, version: str, environment: Path) -> Path:
        """Installs the row's package beside that version; pip chooses other siblings that fit, of all tagged ones."""
        for name in row.selection(self.packages):
            for tagged in tagged_versions(name):
                if tagged != self.packages[name].version:
                    package = tagged_package(name, tagged, self.folder / f"{name}-{tagged}")
                    build(package, self.folder, self.folder / "wheels")
        python = create(environment / "venv")
        wheel = f"{self.wheels[row.package]}[{','.join(row.extras)}]"
        siblings = ["--find-links", str(self.folder / "wheels"), f"{row.oldest}=={version}"]
        pip_install(python, [wheel, *siblings], quiet=True)
        return python

    def _install(self, row: Row, selection: Mapping[str, Sequence[str]], environment: Path) -> Path:
        """Installs the row's packages, into the environment of the rows before it if there is one."""
        say(f"Installing, {describe_size(external_requirements(selection, self.packages))}.")
        python = python_of(environment / "venv")
        if not python.exists():
            create(environment / "venv")
        constraints = None
        if row.lowest:
            constraints = environment / f"{row.name}.txt"
            versions = lowest_versions(selection, self.packages, constraints_file())
            constraints.write_text("\n".join(versions), encoding="utf-8")
            say(f"Lowest versions: {', '.join(versions)}.")
            for name in selection:
                for held, reason in self.packages[name].tested_only.items():
                    say(f"{held} is left at the tested version: {reason}.")
        taken = {
            name: [extra for extra in extras if extra not in self.packages[name].built_extras]
            for name, extras in selection.items()
        }
        wheels = [
            f"{self.wheels[name]}[{','.join(extras)}]" if extras else str(self.wheels[name])
            for name, extras in taken.items()
        ]
        pip_install(python, wheels, constraints, quiet=True)
        return python
