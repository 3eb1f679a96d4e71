"""Where a run comes from: versions, the state of the sources, the command line, the machine."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distributions, version
from typing import Any

#: Third parties whose version can change what a run does.
THIRD_PARTIES = ("numpy", "gymnasium", "torch", "tensorflow", "jax", "ale-py", "envpool")


def installed_versions() -> dict[str, str]:
    """Python's version and those of RLgraph's distributions and the third parties that matter, if installed."""
    ours = {dist.name: dist.version for dist in distributions() if dist.name.startswith("rlgraph")}
    versions = {"python": platform.python_version(), **dict(sorted(ours.items()))}
    for name in THIRD_PARTIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def git_state() -> dict[str, Any] | None:
    """Revision of the working directory's repository and whether it has changes; None where there is none."""
    revision = _git("rev-parse", "HEAD")
    if not revision:
        return None
    # Neither a monitor nor a filter, both of which are commands that a repository names: no content is read.
    changed = _git("-c", "core.fsmonitor=false", "diff-index", "--name-only", "--ignore-submodules", "HEAD")
    return {"revision": revision, "dirty": bool(changed)}


def provenance() -> dict[str, Any]:
    """All of it, JSON-able."""
    return {
        "versions": installed_versions(),
        "git": git_state(),
        "command": shlex.join(sys.argv),
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
