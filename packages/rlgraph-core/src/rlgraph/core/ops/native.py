"""Operations that are functions of a framework."""

from __future__ import annotations

from typing import Any


def native(module: Any, *names: str, **renamed: str) -> dict[str, Any]:
    """Operations for the `vars()` of a class of operations.

    Args:
        module: the framework's module.
        names: of functions that are operations of the same name, several in a text.
        renamed: by operation, the name of its function where that is another.
    """
    functions = {name: name for text in names for name in text.split()} | renamed
    return {operation: staticmethod(getattr(module, name)) for operation, name in functions.items()}
