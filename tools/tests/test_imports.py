"""Importing has no side effect: no framework comes along, no file is written, no logging is configured."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from devlib.project import ROOT, load_packages

FRAMEWORKS = ("torch", "tensorflow", "keras", "jax", "ray", "horovod")
PACKAGES = load_packages()
RULES = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
    "contracts"
]
#: Modules that may import a framework, by the rules of imports: they are imported when one is used.
WITH_FRAMEWORK = {
    module
    for rule in RULES
    for module, imported in (pair.split(" -> ") for pair in rule.get("ignore_imports", ()))
    if imported in FRAMEWORKS
}

_PROBE = """
import importlib, logging, sys
for module in sys.argv[2].split(","):
    importlib.import_module(module)
heavy = sorted(set(sys.argv[1].split(",")) & set(sys.modules))
assert not heavy, f"importing brings {heavy}"
assert not logging.getLogger().handlers, "importing configures logging"
"""


def modules(portion: str, source: Path) -> list[str]:
    """The portion and, unless it is a framework's own backend, all modules below it but those of `WITH_FRAMEWORK`."""
    folder = source / portion.replace(".", "/")
    if portion in ("rlgraph.torch", "rlgraph.tf", "rlgraph_autograd", "rlgraph_jax"):
        return [portion, *([f"{portion}.descriptor"] if (folder / "descriptor.py").is_file() else [])]
    files = (file.relative_to(source).with_suffix("") for file in sorted(folder.rglob("*.py")))
    names = (".".join(file.parts).removesuffix(".__init__") for file in files)
    return [name for name in names if not name.endswith(".__main__") and name not in WITH_FRAMEWORK]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("portion", "source"),
    [(portion, package.source) for package in PACKAGES.values() for portion in package.portions],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_importing_has_no_side_effect(portion: str, source: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", _PROBE, ",".join(FRAMEWORKS), ",".join(modules(portion, source))]
    # An example need not be installed.
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(source)]))
    result = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []
