"""Measurements in processes of their own, and environments for other libraries."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import venv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
Result = TypeVar("Result")
FRAMEWORKS = {"torch": "torch", "tf": "tensorflow"}


def command(*arguments: str, python: Path | None = None) -> list[str]:
    """What runs the present benchmark again, with other arguments."""
    return [str(python or sys.executable), str(FOLDER), sys.argv[0], *arguments]


def in_process(python: Path | None, *arguments: str) -> Any:
    """The last line that the present benchmark prints with these arguments, as JSON.

    Args:
        python: the interpreter; None: this one.
    """
    done = subprocess.run(command(*arguments, python=python), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(arguments)} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def add_rounds(parser: argparse.ArgumentParser, rounds: int) -> None:
    """Arguments of scripts whose measurements are processes; with ``--measure`` a script is one of these."""
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--only", action="append", metavar="SUBJECT", help="may be given several times")
    parser.add_argument("--measure", help=argparse.SUPPRESS)


def chosen(
    parser: argparse.ArgumentParser, only: Sequence[str] | None, known: Iterable[str]
) -> Sequence[str]:
    """The subjects of ``--only``, by default all."""
    if wrong := set(only or ()) - set(known):
        parser.error(f"expected --only to be one of {list(known)}, given {sorted(wrong)}")
    return only or tuple(known)


def alternating(
    subjects: Iterable[str], rounds: int, measure: Callable[[str], Result]
) -> dict[str, list[Result]]:
    """A result of each subject in each round: what slows the machine for a while slows all of them."""
    results: dict[str, list[Result]] = {subject: [] for subject in subjects}
    for _ in range(rounds):
        for subject, found in results.items():
            found.append(measure(subject))
    return results


def environment(name: str, probe: str, *installations: Sequence[str]) -> Path:
    """The interpreter of ``.venvs/NAME``, an environment that is made if it is missing.

    Args:
        name: of the folder.
        probe: an import that works if it is complete.
        installations: arguments of ``pip install``, one call after the other.
    """
    folder = ROOT / ".venvs" / name
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not python.exists() or subprocess.run([str(python), "-c", probe], capture_output=True).returncode != 0:
        words = [word for each in installations for word in each]
        large = "; PyPI's torch for Linux brings CUDA (3 GB)" * any("torch==" in word for word in words)
        print(f"Making {folder} with {', '.join(words)}{large}.")
        venv.create(folder, clear=True, with_pip=True)
        for each in installations:
            subprocess.run([str(python), "-m", "pip", "install", "-q", *each], check=True)
    return python


def by_backend(description: str | None, measure: Callable[[str], Any]) -> None:
    """A script that measures once per backend, and writes what was found with the versions and the load."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", help="JSON to write")
    parser.add_argument("--measure", choices=FRAMEWORKS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure)))
        return
    found: dict[str, Any] = {}
    for backend, framework in FRAMEWORKS.items():
        version = {"version": importlib.metadata.version(framework)}
        found[backend] = in_process(None, "--measure", backend) | version
    load = round(os.getloadavg()[0], 1)
    found |= {"python": platform.python_version(), "cpus": os.cpu_count(), "load": load}
    text = json.dumps(found, indent=1) + "\n"
    print(text)
    if options.file:
        options.file.write_text(text, encoding="utf-8")
