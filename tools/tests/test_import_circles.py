"""No module of the packages needs itself through others, so that each can be read and changed after those below it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from importlib.util import resolve_name
from pathlib import Path

import pytest

from devlib.project import ROOT


def circles(sources: Iterable[Path]) -> list[list[str]]:
    """The circles of imports among the modules below source folders.

    All imports count: at the top, inside functions, for types only. The faces of packages (`__init__.py`) are left
    out: they only gather the names of modules below them.

    Returns:
        Strongly connected components: the names of modules that all reach each other, sorted.
    """
    files = {
        ".".join(file.relative_to(source).with_suffix("").parts): file
        for source in sources
        for file in source.rglob("*.py")
        if file.name != "__init__.py"
    }
    graph = {module: _imported(module, file) & files.keys() for module, file in files.items()}
    reached = {module: _reached(graph, module) for module in graph}
    found = {
        tuple(sorted(other for other in reached[module] if module in reached[other]))
        for module in graph
        if module in reached[module]
    }
    return sorted(map(list, found))


def _imported(module: str, file: Path) -> set[str]:
    """What a module may import; of `from a.b import c`, both `a.b` and `a.b.c`."""
    package, names = module.rpartition(".")[0], set[str]()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = resolve_name("." * node.level + (node.module or ""), package)
            names.update([start, *(f"{start}.{alias.name}" for alias in node.names)])
    return names


def _reached(graph: Mapping[str, Iterable[str]], module: str) -> set[str]:
    """All modules that one imports, directly or through others."""
    reached: set[str] = set()
    ahead = list(graph[module])
    while ahead:
        current = ahead.pop()
        if current not in reached:
            reached.add(current)
            ahead.extend(graph[current])
    return reached


@pytest.mark.slow
def test_the_packages_have_no_circle() -> None:
    assert circles(ROOT.glob("packages/*/src")) == []


@pytest.mark.parametrize(
    "back",
    [
        "import house.low",
        "from house.low import name",
        "from house import low",
        "from . import low",
        "def lazily():\n    from house.low import name",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house.low import name",
    ],
)
def test_circles_are_found(tmp_path: Path, back: str) -> None:
    files = {
        "__init__": "from house.low import name",
        "low": "from house.middle import name",
        "middle": "from house.high import name",
        "high": back,
        "apart": "import house.low\nfrom house import name",
    }
    (tmp_path / "house").mkdir()
    for name, text in files.items():
        (tmp_path / "house" / f"{name}.py").write_text(text, encoding="utf-8")
    assert circles([tmp_path]) == [["house.high", "house.low", "house.middle"]]
    (tmp_path / "house" / "high.py").write_text("import os", encoding="utf-8")
    assert circles([tmp_path]) == []
