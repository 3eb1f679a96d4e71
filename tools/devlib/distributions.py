"""Wheels and source distributions of packages, and the versions that git's tags (`rlgraph-core-0.2.0`) hold."""

from __future__ import annotations

import subprocess
import tarfile
import tempfile
import zipfile
from pathlib import Path

from devlib.environments import EnvironmentFailure, create, pip_install, python_of
from devlib.output import run, say
from devlib.project import ROOT, Package, load_packages, version_numbers


def build(package: Package, workshop: Path, target: Path, sdist: bool = False) -> Path:
    """Builds the wheel, and the source distribution if asked for, into `target`; returns the wheel.

    Args:
        workshop: a folder for the tools that build, which later calls find there.
    """
    python = python_of(workshop / "build")
    if not python.exists():
        create(workshop / "build")
        pip_install(python, ["build", "poetry-core"], quiet=True)
    kinds = ["--wheel", *(["--sdist"] if sdist else [])]
    command: list[str | Path] = [python, "-m", "build", "--no-isolation", *kinds, "--outdir", target]
    if run([*command, package.folder], cwd=workshop) != 0:
        raise EnvironmentFailure(f"{package.name} could not be built.")
    (wheel,) = target.glob(f"{package.name.replace('-', '_')}-{package.version}-*.whl")
    problems = wheel_problems(wheel, package)
    if problems:
        raise EnvironmentFailure("\n".join(problems))
    say(f"built {wheel.name}")
    return wheel


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


def tagged_versions(name: str) -> list[str]:
    """The versions of a package that have a tag, the lowest first."""
    listing = subprocess.run(
        ["git", "tag", "--list", f"{name}-[0-9]*"], cwd=ROOT, capture_output=True, text=True
    )
    return sorted((tag.removeprefix(f"{name}-") for tag in listing.stdout.split()), key=version_numbers)


def tagged_package(name: str, version: str, folder: Path) -> Package:
    """A package as it was when it was tagged, written into `folder`."""
    folder.mkdir(parents=True)
    with tempfile.TemporaryFile() as archive:
        command = ["git", "archive", f"{name}-{version}", f"packages/{name}"]
        subprocess.run(command, cwd=ROOT, stdout=archive, check=True)
        archive.seek(0)
        with tarfile.open(fileobj=archive) as opened:
            opened.extractall(folder, filter="data")
    return load_packages(folder)[name]
