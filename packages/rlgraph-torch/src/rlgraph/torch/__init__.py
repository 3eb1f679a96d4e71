"""The PyTorch backend of RLgraph. Importing this package imports no framework."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlgraph.torch.executor import PyTorchExecutor
    from rlgraph.torch.module_component import ModuleComponent

__all__ = ["ModuleComponent", "PyTorchExecutor"]

_MODULES = {"ModuleComponent": "module_component", "PyTorchExecutor": "executor"}


def __getattr__(name: str) -> Any:
    """Imports the names that need the framework on first access."""
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
