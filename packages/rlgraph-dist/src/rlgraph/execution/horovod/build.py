"""Builds Horovod's wheel for the frameworks of an environment, and installs it there.

    python -m rlgraph.execution.horovod.build [--python PYTHON] [--only-build]

PyPI has only the source of Horovod, which needs settings of its own to compile against the present frameworks. The
wheel has Gloo, for CPUs, and serves whichever of torch and TensorFlow the environment has. It takes about 5 minutes on
two cores, and is kept in ``~/.rlgraph/wheels`` (or ``wheels`` in ``RLGRAPH_CACHE``) for the next environment with the
same versions. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

VERSION = "0.28.1"
FRAMEWORKS = ("torch", "tensorflow")
#: What its build imports.
_TOOLS = ("setuptools<82", "wheel", "packaging", "cloudpickle", "psutil", "pyyaml", "cffi")
#: Exit status where the build is not possible: there is no compiler, or not the time.
NOT_POSSIBLE = 3
#: Horovod's own -std=c++14 comes after any CXXFLAGS, and the present frameworks need C++17. On CPUs TensorFlow's XLA
#: operations cannot be compiled, and are left out by the macro that is undefined.
_COMPILER = """#!/bin/sh
extra=-std=c++17
case "$*" in *xla_mpi_ops.cc*) extra="$extra -UTENSORFLOW_VERSION";; esac
exec {compiler} "$@" $extra
"""
_PROBE = """
import json, platform, sys
from importlib.metadata import PackageNotFoundError, version
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = version(name)
    except PackageNotFoundError:
        pass
print(json.dumps({"frameworks": found, "tag": f"cp{sys.version_info[0]}{sys.version_info[1]}-{platform.machine()}"}))
"""


class BuildFailure(Exception):
    """The build has failed; the message says why."""


class NotPossible(BuildFailure):
    """The wheel cannot be built here; the message says what is missing and what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit status: 0, 1 after a failure, `NOT_POSSIBLE`."""
    parser = argparse.ArgumentParser(prog="build_horovod", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--python", default=sys.executable, help="of the environment; default: this one")
    parser.add_argument("--minutes", type=float, default=30.0, help="that it may take; default: 30")
    parser.add_argument("--only-build", action="store_true", help="print where the wheel is, install nothing")
    options = parser.parse_args(arguments)
    try:
        wheel = wheel_for(options.python, 60.0 * options.minutes)
        if not options.only_build:
            _run([*_pip(options.python), "install", "-q", str(wheel)])
    except BuildFailure as failure:
        print(failure, file=sys.stderr)
        return NOT_POSSIBLE if isinstance(failure, NotPossible) else 1
    print(wheel)
    return 0


def _pip(python: str) -> list[str]:
    return [python, "-m", "pip", "--disable-pip-version-check"]


def wheel_for(python: str, seconds: float) -> Path:
    """The wheel for the frameworks that this interpreter has, built unless it is kept already.

    Args:
        python: the interpreter.
        seconds: that the build may take.

    Raises:
        NotPossible: there are none, the compiler is missing, or it takes too long.
        BuildFailure: the build fails.
    """
    probe = subprocess.run([python, "-c", _PROBE, *FRAMEWORKS], capture_output=True, text=True, check=True)
    found = json.loads(probe.stdout)
    frameworks: dict[str, str] = found["frameworks"]
    if not frameworks:
        raise NotPossible(
            f"expected torch or tensorflow beside {python}, found neither: install rlgraph-torch or rlgraph-tf first, "
            "since Horovod is built for the versions that are there"
        )
    names = [f"{name}-{version}" for name, version in frameworks.items()]
    folder = _wheels() / "_".join([*names, found["tag"]])
    if not (kept := list(folder.glob(f"horovod-{VERSION}-*.whl"))):
        compiler = find_compiler()
        print(f"Building Horovod {VERSION} for {', '.join(names)} (about 5 minutes) ...", file=sys.stderr)
        kept = [_build(python, compiler, frameworks, folder, seconds)]
    return kept[0]


def _wheels() -> Path:
    given = os.environ.get("RLGRAPH_CACHE")
    return (Path(given) if given else Path.home() / ".rlgraph") / "wheels"


def find_compiler() -> str:
    """The C++ compiler: ``CXX``, or g++.

    Raises:
        NotPossible: there is none.
    """
    found = shutil.which(os.environ.get("CXX", "g++"))
    if found is None:
        raise NotPossible(
            f"expected a C++17 compiler, found no {os.environ.get('CXX', 'g++')!r}: install one (apt-get install g++), "
            "or name it in CXX"
        )
    return found


def _build(python: str, compiler: str, frameworks: Mapping[str, str], folder: Path, seconds: float) -> Path:
    """Builds the wheel aside, and moves it to `folder`."""
    with tempfile.TemporaryDirectory(prefix="horovod-") as place:
        tools, built, wrapper = Path(place, "tools"), Path(place, "built"), Path(place, "c++")
        wrapper.write_text(_COMPILER.format(compiler=compiler), encoding="utf-8")
        wrapper.chmod(0o755)
        needed = _TOOLS if shutil.which("cmake") else (*_TOOLS, "cmake")
        # Beside the environment, which is left as it is.
        _run([*_pip(python), "install", "-q", "--target", str(tools), *needed])
        source = ["--no-deps", "--no-build-isolation", "--no-binary", "horovod", f"horovod=={VERSION}"]
        _run(
            [*_pip(python), "wheel", *source, "-w", str(built)],
            _settings(frameworks, tools, wrapper),
            seconds,
        )
        (wheel,) = built.glob("*.whl")
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(wheel, folder / f"{wheel.name}.part")
        return (folder / f"{wheel.name}.part").rename(folder / wheel.name)


def _settings(frameworks: Mapping[str, str], tools: Path, wrapper: Path) -> dict[str, str]:
    """The environment variables of the build."""
    chosen = {
        f"HOROVOD_WITH{'' if name in frameworks else 'OUT'}_{kind}": "1"
        for name, kind in (("torch", "PYTORCH"), ("tensorflow", "TENSORFLOW"), ("mxnet", "MXNET"))
    }
    return {
        **chosen,
        "HOROVOD_WITH_GLOO": "1",
        "HOROVOD_WITHOUT_MPI": "1",
        "HOROVOD_CPU_OPERATIONS": "GLOO",
        "CMAKE_POLICY_VERSION_MINIMUM": "3.5",
        "MAKEFLAGS": f"-j{os.cpu_count() or 1}",
        "CXX": str(wrapper),
        "PYTHONPATH": str(tools),
        "PATH": f"{tools / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}",
    }


def _run(
    command: Sequence[str], settings: Mapping[str, str] | None = None, seconds: float | None = None
) -> None:
    """Runs a command.

    Raises:
        BuildFailure: it fails; the message has the end of what it printed.
        NotPossible: it is not done in time.
    """
    environment = {**os.environ, **(settings or {})}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise NotPossible(
            f"Horovod was not built within {seconds:g} s: give it more --minutes, or processors"
        ) from None
    if done.returncode:
        raise BuildFailure(f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}\nfailed: {' '.join(command)}")


if __name__ == "__main__":
    sys.exit(main())
