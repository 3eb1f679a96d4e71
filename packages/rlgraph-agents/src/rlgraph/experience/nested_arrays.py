"""Batches as Spaces describe them: an array, or dicts and tuples of arrays, with the batch rank first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np


def map_arrays(function: Callable[..., Any], value: Any, *others: Any) -> Any:
    """`function` of every array of `value`, and of the arrays in the same places of `others`; None stays."""
    if value is None:
        return None
    if isinstance(value, dict):
        return {key: map_arrays(function, part, *(o[key] for o in others)) for key, part in value.items()}
    if isinstance(value, tuple):
        return tuple(map_arrays(function, *parts) for parts in zip(value, *others, strict=True))
    return function(value, *others)


def row(batch: Any, index: Any) -> Any:
    """Row `index` of every array; a slice or an array of indices gives a batch again."""
    return batch[index] if isinstance(batch, np.ndarray) else map_arrays(lambda array: array[index], batch)


def rows(batch: Any, number: int) -> Iterable[Any]:
    """All rows of a batch, as views of it."""
    return (row(batch, i) for i in range(number)) if isinstance(batch, dict | tuple) else batch


def stack(parts: Sequence[Any]) -> Any:
    """One batch of rows, at least one."""
    if isinstance(parts[0], dict | tuple):
        return map_arrays(lambda *arrays: np.array(arrays), *parts)
    return np.array(parts)


def with_batch_rank(value: Any) -> Any:
    """A batch of one."""
    return map_arrays(lambda part: np.asarray(part)[None], value)


def length(batch: Any) -> int:
    """Rows of a batch; of a container's first array."""
    while isinstance(batch, dict | tuple) and batch:
        batch = next(iter(batch.values() if isinstance(batch, dict) else batch))
    return len(batch)


def flatten_arrays(value: Any, path: str = "") -> dict[str, np.ndarray]:
    """Path -> array of everything in nested dicts and tuples; numbers become arrays, None is left out."""
    if value is None:
        return {}
    if isinstance(value, dict | tuple):
        items = (
            value.items() if isinstance(value, dict) else ((f"#{i}", item) for i, item in enumerate(value))
        )
        flat: dict[str, np.ndarray] = {}
        for key, item in items:
            flat |= flatten_arrays(item, f"{path}/{key}" if path else str(key))
        return flat
    return {path: np.asarray(value)}


def unflatten_arrays(flat: Mapping[str, np.ndarray]) -> Any:
    """The inverse of `flatten_arrays`."""
    nested: dict[str, Any] = {}
    for path, array in flat.items():
        inner, *rest = nested, *path.split("/")
        for key in rest[:-1]:
            inner = inner.setdefault(key, {})
        inner[rest[-1]] = array
    return _with_tuples(nested)


def _with_tuples(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    items = {key: _with_tuples(item) for key, item in value.items()}
    if items and all(key.startswith("#") for key in items):
        return tuple(items[f"#{i}"] for i in range(len(items)))
    return items
