"""Nested dicts and tuples inside graph functions. Lists count as tuples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def map_nested(function: Callable[..., Any], value: Any, *others: Any) -> Any:
    """Apply `function` to each leaf of `value` and to the leaves at the same path in `others`."""
    if isinstance(value, dict):
        return {k: map_nested(function, item, *[other[k] for other in others]) for k, item in value.items()}
    if isinstance(value, (list, tuple)):  # `list | tuple` would be made anew at every leaf
        return tuple([map_nested(function, *items) for items in zip(value, *others, strict=True)])
    return function(value, *others)


def leaves_of(value: Any) -> list[Any]:
    """The leaves of `value`, in order."""
    found: list[Any] = []
    map_nested(found.append, value)
    return found


def nested_like(structure: Any, leaves: Iterable[Any]) -> Any:
    """`leaves`, in order, nested like `structure`."""
    remaining = iter(leaves)
    return map_nested(lambda _: next(remaining), structure)
