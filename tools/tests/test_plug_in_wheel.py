"""A component comes from a wheel: that of the package on the page about plug-ins."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from devlib.project import ROOT

pytestmark = pytest.mark.slow

pytest.importorskip("poetry.core", reason="the wheel is built without a network")

PAGE = ROOT / "docs" / "library" / "plug_ins.md"

#: What a user runs; the specification comes as JSON.
SCRIPT = """
import json, sys
import numpy as np
from rlgraph.components import PreprocessorStack
from rlgraph.core import GraphExecutor, SpecError, registry
from rlgraph.spaces import FloatBox
known = registry("rlgraph.components")
assert "rlgraph_symlog" not in sys.modules
print([plugin.origin for plugin in known.plugins() if plugin.name == "symlog"])
try:
    stack = PreprocessorStack.from_spec(json.loads(sys.argv[1]), path="preprocessing_spec")
    executor = GraphExecutor(stack, {"inputs": FloatBox(add_batch_rank=True)}, backend="numpy")
    print([round(float(x), 3) for x in executor.execute("preprocess", [0.0, 9.0])])
except SpecError as error:
    print(error)
"""


def _blocks(language: str) -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def _python(*arguments: str | Path, path: Path | None = None) -> str:
    """What a Python process prints; `path` is in front of where it looks for packages."""
    places = [str(path) if path else "", os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the page's package."""
    folder = tmp_path_factory.mktemp("rlgraph-symlog")
    package = folder / "src" / "rlgraph_symlog"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "symlog.py").write_text(_blocks("python")[0], encoding="utf-8")
    (folder / "pyproject.toml").write_text(*_blocks("toml"), encoding="utf-8")
    options = ["--no-build-isolation", "--no-deps", "--no-index", "--quiet", "--disable-pip-version-check"]
    _python("-m", "pip", "wheel", *options, "-w", folder / "dist", folder)
    (built,) = (folder / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed the wheel."""
    folder = tmp_path_factory.mktemp("site-packages")
    options = ["--no-deps", "--no-index", "--quiet", "--disable-pip-version-check"]
    _python("-m", "pip", "install", *options, "--target", folder, wheel)
    return folder


def test_the_wheel_has_the_entry_point(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (entries,) = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
        text = archive.read(entries).decode()
    assert "[rlgraph.components]\nsymlog=rlgraph_symlog.symlog:Symlog" in text.replace(" ", "")


def test_a_spec_finds_it_by_name(installed: Path) -> None:
    spec = json.dumps([{"type": "Symlog", "scale": 9.0}, {"type": "multiply", "factor": 2.0}])
    origin, values = _python("-c", SCRIPT, spec, path=installed).splitlines()
    assert origin == "['rlgraph-symlog 0.1.0']"
    assert json.loads(values) == [0.0, 1.386]  # 2 * log(2)


def test_its_mistakes_are_told_like_all_others(installed: Path) -> None:
    _, message = _python("-c", SCRIPT, '[{"type": "symlog", "skale": 1}]', path=installed).splitlines()
    assert message == "preprocessing_spec[0].skale: Symlog has no such key. Did you mean 'scale'?"


def test_without_the_wheel_there_is_no_such_name() -> None:
    origin, message = _python("-c", SCRIPT, '[{"type": "symlog"}]').splitlines()
    assert origin == "[]"
    assert message.startswith("preprocessing_spec[0].type: unknown component 'symlog'.")


def test_the_page_s_own_use_of_it(installed: Path) -> None:
    (use,) = (block for block in _blocks("python") if "plugin.origin" in block)
    space, origin = _python("-c", use, path=installed).splitlines()
    assert space == "FloatBox(shape=(3,), add_batch_rank=True)"
    assert origin == "['rlgraph-symlog 0.1.0']"
