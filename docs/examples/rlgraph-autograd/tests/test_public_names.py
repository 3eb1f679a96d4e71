"""This package stands on what RLgraph's core offers to everybody, and on nothing else."""

import ast
import importlib
from pathlib import Path

import pytest

import rlgraph_autograd

#: The modules for authors of backends.
PUBLIC = {
    "rlgraph.core",
    "rlgraph.core.backend",
    "rlgraph.core.graph",
    "rlgraph.core.graph.emission",
    "rlgraph.core.graph.variables",
    "rlgraph.core.handle",
    "rlgraph.core.numpy.backend",
    "rlgraph.core.numpy.ops",
    "rlgraph.core.ops",
    "rlgraph.core.random_streams",
    "rlgraph.core.storage",
}
FILES = sorted(Path(rlgraph_autograd.__file__).parent.glob("*.py"))


def imported_names(file):
    """(module, name) of everything that a file takes from RLgraph."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.ImportFrom)
            and (node.module or "").split(".")[0] == "rlgraph"
        ):
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            assert not any(
                alias.name.split(".")[0] == "rlgraph" for alias in node.names
            )


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_only_public_names_are_imported(file):
    for module, name in imported_names(file):
        assert module in PUBLIC
        assert not name.startswith("_")
        offered = getattr(importlib.import_module(module), "__all__", None)
        assert offered is None or name in offered, f"{module} does not list {name}"
