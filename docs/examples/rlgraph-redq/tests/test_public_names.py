"""This package stands on what RLgraph offers to everybody, and on nothing else."""

import ast
import importlib
from pathlib import Path

import rlgraph_redq

PUBLIC = {
    "rlgraph.agents",
    "rlgraph.algorithms.sac",
    "rlgraph.components",
    "rlgraph.core",
    "rlgraph.spaces",
}


def test_only_public_names_are_imported():
    for file in Path(rlgraph_redq.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.ImportFrom)
                and (node.module or "").split(".")[0] == "rlgraph"
            ):
                assert node.module in PUBLIC
                offered = getattr(importlib.import_module(node.module), "__all__", None)
                for alias in node.names:
                    assert not alias.name.startswith("_")
                    assert offered is None or alias.name in offered, (
                        f"{node.module} lacks {alias.name}"
                    )
