"""Applies functions to each part of a container, in API methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def map_parts(function: Callable[..., Any], parts: Any, *containers: Any) -> Any:
    """Apply `function` to each part and the values at its path in each container; returns the structure of `parts`.

    `parts` are nested dicts and tuples; containers may be symbols.
    """
    if isinstance(parts, dict):
        return {k: map_parts(function, part, *(c[k] for c in containers)) for k, part in parts.items()}
    if isinstance(parts, tuple):
        return tuple(map_parts(function, part, *(c[i] for c in containers)) for i, part in enumerate(parts))
    return function(parts, *containers)


def paths_of(parts: Any, path: str = "") -> Any:
    """The Space path of each part, in the structure of `parts`."""
    front = f"{path}/" if path else ""
    if isinstance(parts, dict):
        return {key: paths_of(part, f"{front}{key}") for key, part in parts.items()}
    if isinstance(parts, tuple):
        return tuple(paths_of(part, f"{front}{i}") for i, part in enumerate(parts))
    return path
