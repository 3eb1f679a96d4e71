"""The TensorFlow backend of RLgraph. Importing this package imports no framework."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rlgraph.core.tensorflow_log import startup_log_hidden

if TYPE_CHECKING:
    from rlgraph.tf.executor import TensorFlowExecutor
    from rlgraph.tf.module_component import ModuleComponent

__all__ = ["ModuleComponent", "TensorFlowExecutor"]

#: Public name -> its module, which imports TensorFlow.
_MODULES = {"ModuleComponent": "module_component", "TensorFlowExecutor": "executor"}


def __getattr__(name: str) -> Any:
    """Imports the names that need the framework on first access."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with startup_log_hidden():
        module = import_module(f"{__name__}.{_MODULES[name]}")
    return getattr(module, name)
