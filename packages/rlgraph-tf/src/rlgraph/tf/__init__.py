"""The TensorFlow backend of RLgraph. Importing this package imports no framework."""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: Public names and the modules they are in, which import TensorFlow.
_PUBLIC = {"TensorFlowExecutor": "rlgraph.tf.executor"}

__all__ = ["TensorFlowExecutor"]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)
