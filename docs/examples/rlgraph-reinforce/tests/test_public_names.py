"""This package stands on what RLgraph offers to everybody, and on nothing else."""

import ast
import importlib
from pathlib import Path

import rlgraph_reinforce

PUBLIC = {
    "rlgraph.agents",
    "rlgraph.algorithms.default_network",
    "rlgraph.components",
    "rlgraph.core",
    "rlgraph.core.functional.returns",
    "rlgraph.core.functional.weighting",
    "rlgraph.core.specs.spec_types",
    "rlgraph.spaces",
}


def test_only_public_names_are_imported():
    for file in Path(rlgraph_reinforce.__file__).parent.glob("*.py"):
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
