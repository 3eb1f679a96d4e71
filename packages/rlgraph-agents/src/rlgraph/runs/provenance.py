"""Provenance of a run: versions, source revision, command line, machine."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
from typing import Any

from rlgraph.core.registry import rlgraph_versions, version_of
from rlgraph.core.specs.documents import MAX_TEXT

#: Third-party packages whose version can affect a run.
THIRD_PARTIES = (
    "numpy",
    "gymnasium",
    "torch",
    "tensorflow",
    "jax",
    "ray",
    "ale-py",
    "envpool",
    "box2d",
    "mujoco",
    "minatar",
    "minigrid",
)


def installed_versions() -> dict[str, str]:
    """Versions of Python, RLgraph's distributions and third-party packages that can affect a run, if installed."""
    found = {name: version_of(name) for name in THIRD_PARTIES}
    others = {name: version for name, version in found.items() if version is not None}
    return {"python": platform.python_version(), **rlgraph_versions(), **others}


def git_state() -> dict[str, Any] | None:
    """Revision of the working directory's repository and whether it has changes; None without a repository."""
    revision = _git("rev-parse", "HEAD")
    if not revision:
        return None
    # No monitor and no filter: both are commands that a repository names.
    changed = _git("-c", "core.fsmonitor=false", "diff-index", "--name-only", "--ignore-submodules", "HEAD")
    return {"revision": revision, "dirty": bool(changed)}


def provenance() -> dict[str, Any]:
    """The provenance of this process, JSON-serializable."""
    return {
        "versions": installed_versions(),
        "git": git_state(),
        "command": shlex.join(sys.argv)[:MAX_TEXT],
        "machine": {
            "platform": platform.platform(),
            "processor": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
        },
    }


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
