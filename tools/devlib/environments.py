"""Virtual environments below `.venvs/`: made once, remade when what they should hold has changed.

An environment is complete when its state file is there, which is written last. The file holds two hashes:
one of the third-party requirements, the constraints and the interpreter (if it differs, the environment is
remade), one of the packages' own metadata, entry points among them (if it differs, the packages are installed
again, a matter of seconds).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from devlib.output import clean_environment, duration, run, say
from devlib.project import ROOT, Package, external_requirements, load_packages, requirement_name

# Roughly, in MB: (download, on disk). PyPI's torch for Linux on x86-64 brings the CUDA libraries.
_SIZES = {
    "torch": (200, 760),
    "tensorflow": (570, 1900),
    "jax": (125, 420),
    "matplotlib": (40, 150),
    "numba": (60, 200),
    "tensorboard": (15, 60),
    "sphinx": (15, 90),
    "mypy": (15, 60),
}
_REST = (25, 120)
_STATE = "rlgraph-environment.json"


class EnvironmentFailure(Exception):
    """An environment could not be made; the message says what to do."""


@dataclass(frozen=True)
class Environment:
    """What an environment holds: packages of this repository (editable) and third-party requirements."""

    name: str
    packages: Mapping[str, Sequence[str]] = field(default_factory=dict)
    requirements: Sequence[str] = ()

    @property
    def folder(self) -> Path:
        return ROOT / ".venvs" / self.name

    @property
    def python(self) -> Path:
        return python_of(self.folder)


def python_of(folder: Path) -> Path:
    """The interpreter of the virtual environment in `folder`."""
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def constraints_file() -> Path:
    return ROOT / "tools" / "constraints.txt"


def ensure(environment: Environment) -> Path:
    """Makes the environment unless it is there and complete; returns its interpreter."""
    with _locked(environment):
        return _ensure(environment)


def _ensure(environment: Environment) -> Path:
    packages = load_packages()
    wanted = _state(environment, packages)
    found = _read_state(environment)
    if found == wanted:
        return environment.python
    if found is not None and found["requirements"] == wanted["requirements"]:
        say(f"Installing the packages again into .venvs/{environment.name}: their metadata has changed.")
        (environment.folder / _STATE).unlink()
        _install_editable(environment, packages)
    else:
        _make(environment, packages)
    (environment.folder / _STATE).write_text(json.dumps(wanted, indent=1), encoding="utf-8")
    return environment.python


def create(folder: Path) -> Path:
    """A new, bare virtual environment; returns its interpreter."""
    shutil.rmtree(folder, ignore_errors=True)
    if run([sys.executable, "-m", "venv", folder], cwd=ROOT) != 0:
        raise EnvironmentFailure(
            f"{sys.executable} could not make a virtual environment in {folder}. On Debian and Ubuntu the "
            "module venv comes with the system package python3-venv."
        )
    return python_of(folder)


def pip_install(
    python: Path, arguments: Sequence[str], constraints: Path | None = None, quiet: bool = False
) -> None:
    """Installs with a constraints file (None: the tested versions).

    Nothing is compiled ahead: modules that are imported once or never would cost more than they save.
    """
    options = ["--disable-pip-version-check", "--no-input", "--no-compile", *(["-qq"] if quiet else [])]
    held = ["-c", str(constraints or constraints_file())]
    command = [str(python), "-m", "pip", "install", *options, *held, *arguments]
    if run(command, cwd=ROOT) != 0:
        raise EnvironmentFailure(f"pip failed; see above. The command was:\n  {shlex.join(command)}")


def describe_size(requirements: Sequence[str]) -> str:
    """`"about 280 MB to download, 1.1 GB on disk"`."""
    names = {requirement_name(requirement) for requirement in requirements}
    sizes = [_REST, *(size for name, size in _SIZES.items() if name in names)]
    download, disk = (sum(size[i] for size in sizes) for i in range(2))
    return f"about {_megabytes(download)} to download unless pip has it cached, {_megabytes(disk)} on disk"


def _megabytes(number: int) -> str:
    return f"{number / 1000:.1f} GB" if number >= 1000 else f"{number} MB"


def _make(environment: Environment, packages: Mapping[str, Package]) -> None:
    requirements = _third_parties(environment, packages)
    say(f"Making .venvs/{environment.name} (Python {sys.version_info.major}.{sys.version_info.minor}):")
    if environment.packages:
        say(f"  from this repository (editable): {', '.join(environment.packages)}")
    say(f"  from the package index: {', '.join(sorted(set(map(requirement_name, requirements))))}")
    say(f"  {describe_size(requirements)}; a second run finds it ready.")
    if _torch_brings_cuda(requirements):
        say("  PyPI's torch for Linux brings the CUDA libraries (3 GB more). For the CPU build alone, set")
        say(
            "  PIP_EXTRA_INDEX_URL to the index that PyTorch's installation page names for it, and run this again."
        )
    start = time.monotonic()
    pip_install(create(environment.folder), requirements)
    _install_editable(environment, packages)
    say(f"Made .venvs/{environment.name} in {duration(time.monotonic() - start)}.")


@contextlib.contextmanager
def _locked(environment: Environment) -> Iterator[None]:
    """Two runs at a time do not make the same environment, where the system can lock files."""
    environment.folder.parent.mkdir(exist_ok=True)
    with open(environment.folder.with_suffix(".lock"), "w", encoding="utf-8") as file:
        try:
            import fcntl
        except ImportError:
            pass
        else:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _torch_brings_cuda(requirements: Sequence[str]) -> bool:
    cpu_index_is_set = "pytorch" in os.environ.get("PIP_EXTRA_INDEX_URL", "")
    wants_torch = any(requirement_name(requirement) == "torch" for requirement in requirements)
    return wants_torch and sysconfig.get_platform() == "linux-x86_64" and not cpu_index_is_set


def _install_editable(environment: Environment, packages: Mapping[str, Package]) -> None:
    """Once the third parties are there: those that build the packages need no environment of their own then."""
    folders = [f"./{packages[name].folder.relative_to(ROOT).as_posix()}" for name in environment.packages]
    editable = [argument for folder in folders for argument in ("-e", folder)]
    pip_install(environment.python, ["--no-deps", "--no-build-isolation", *editable])


def _third_parties(environment: Environment, packages: Mapping[str, Package]) -> list[str]:
    """What is installed from the package index, the tools that build the packages among it."""
    build = {r for name in environment.packages for r in packages[name].data["build-system"]["requires"]}
    external = external_requirements(environment.packages, packages)
    return sorted({*external, *build, *environment.requirements})


def _state(environment: Environment, packages: Mapping[str, Package]) -> dict[str, str]:
    external = [
        str(ROOT),
        sys.version,
        sys.base_prefix,
        constraints_file().read_text(encoding="utf-8"),
        {name: list(extras) for name, extras in environment.packages.items()},
        _third_parties(environment, packages),
    ]
    metadata = [
        [data["project"], data["build-system"], data["tool"]["poetry"]]
        for data in (packages[name].data for name in environment.packages)
    ]
    return {"requirements": _digest(external), "metadata": _digest(metadata)}


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _read_state(environment: Environment) -> dict[str, str] | None:
    """The state of a complete environment whose interpreter runs, else None."""
    try:
        state = json.loads((environment.folder / _STATE).read_text(encoding="utf-8"))
        probe = [str(environment.python), "-c", "import pip"]
        subprocess.run(probe, env=clean_environment(), check=True, capture_output=True)
    except (OSError, ValueError, subprocess.CalledProcessError):
        return None
    return state
