"""Measures once per backend, each in a process of its own, and writes what was found with the versions and the load."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

FRAMEWORKS = {"torch": "torch", "tf": "tensorflow"}


def by_backend(description: str | None, program: str, measure: Callable[[str], Any]) -> None:
    """The command line of a program: ``FILE`` to write; ``--measure BACKEND`` is the process of one backend."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", help="JSON to write")
    parser.add_argument("--measure", choices=FRAMEWORKS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure)))
        return
    found: dict[str, Any] = {}
    for backend, framework in FRAMEWORKS.items():
        done = subprocess.run(
            [sys.executable, program, "--measure", backend],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            env=os.environ | {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "2"},
        )
        found[backend] = json.loads(done.stdout.splitlines()[-1])
        found[backend]["version"] = importlib.metadata.version(framework)
    found |= {
        "python": platform.python_version(),
        "cpus": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
    }
    text = json.dumps(found, indent=1) + "\n"
    print(text)
    if options.file:
        options.file.write_text(text, encoding="utf-8")
