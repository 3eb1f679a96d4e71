"""This package stands on what RLgraph offers to everybody, and on nothing else."""

import ast
import importlib
from pathlib import Path

import rlgraph_processes

PUBLIC = {"rlgraph.core", "rlgraph.execution", "rlgraph.workers"}


def test_only_public_names_are_imported():
    for file in Path(rlgraph_processes.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.ImportFrom)
                and (node.module or "").split(".")[0] == "rlgraph"
            ):
                assert node.module in PUBLIC
                offered = importlib.import_module(node.module).__all__
                for alias in node.names:
                    assert alias.name in offered, f"{node.module} lacks {alias.name}"
            # What a subclass takes from its base is public, too.
            elif (
                isinstance(node, ast.Attribute)
                and node.attr.startswith("_")
                and node.attr != "__init__"
            ):
                assert not hasattr(rlgraph_processes.BackupExecutor.__base__, node.attr)
