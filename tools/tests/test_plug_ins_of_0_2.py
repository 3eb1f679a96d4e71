"""Plug-ins for version 0.2 run with their code of then; only the ranges of their dependencies are wider.

The fixtures are examples of that version. Those that are backends have the same code today, and tests of their own.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from devlib.project import admits, load_packages, requirement_name

pytestmark = pytest.mark.slow

FIXTURES = Path(__file__).parent / "fixtures" / "plug_ins_v0_2"
#: What a `DeprecationWarning` says of each plug-in: which modules have moved since.
PLUG_INS: dict[str, list[str]] = {
    "rlgraph-processes": [],
    "rlgraph-reinforce": ["rlgraph.agents.default_network is rlgraph.algorithms.default_network"],
}


def project_of(name: str) -> dict[str, Any]:
    """What the plug-in's ``pyproject.toml`` says."""
    text = (FIXTURES / name / "pyproject.toml").read_text(encoding="utf-8")
    project: dict[str, Any] = tomllib.loads(text)["project"]
    return project


def install(name: str, folder: Path) -> dict[str, str]:
    """The environment of processes in which the plug-in of 0.2 is what is installed."""
    project, site = project_of(name), folder / "site-packages"
    shutil.copytree(FIXTURES / name / "src", site)
    about = site / f"{name.replace('-', '_')}-{project['version']}.dist-info"
    about.mkdir()
    requires = "".join(f"Requires-Dist: {requirement}\n" for requirement in project["dependencies"])
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {project['version']}\n{requires}", encoding="utf-8"
    )
    groups = (
        f"[{group}]\n" + "".join(f"{key} = {target}\n" for key, target in targets.items())
        for group, targets in project["entry-points"].items()
    )
    (about / "entry_points.txt").write_text("\n".join(groups), encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": path}


@pytest.mark.parametrize("name", PLUG_INS)
def test_its_own_tests_pass(name: str, tmp_path: Path) -> None:
    environment = install(name, tmp_path)
    shutil.copytree(FIXTURES / name / "tests", tmp_path / "tests")
    module = name.replace("-", "_")
    (tmp_path / "tests" / "test_place.py").write_text(
        f"import {module}\n\n\ndef test_place():\n    assert {str(tmp_path)!r} in {module}.__file__\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-q", "-W", "default", "tests"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stdout
    moved = re.findall(r"DeprecationWarning: (rlgraph\S* is \S+) now", done.stdout)
    assert sorted(set(moved)) == PLUG_INS[name]


@pytest.mark.parametrize("name", PLUG_INS)
def test_its_ranges_admit_the_packages(name: str) -> None:
    packages = load_packages()
    ours = [each for each in project_of(name)["dependencies"] if requirement_name(each) in packages]
    assert ours and all(admits(each, packages[requirement_name(each)].version) for each in ours)
