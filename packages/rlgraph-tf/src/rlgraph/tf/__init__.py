"""The TensorFlow backend of RLgraph. Importing this package imports no framework."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlgraph.tf.module_component import ModuleComponent

__all__ = ["ModuleComponent"]


def __getattr__(name: str) -> Any:
    """What needs the framework, imported when it is first asked for."""
    if name == "ModuleComponent":
        from rlgraph.tf.module_component import ModuleComponent

        return ModuleComponent
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
