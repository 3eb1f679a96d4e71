"""Rows of a batch: arrays with one row per environment, in the structure of a Space.

A structure is an array, a dict of structures or a tuple of structures. No Space is read while environments step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np

from rlgraph.environments.errors import EnvironmentFault
from rlgraph.spaces import BoxSpace, Dict, FloatBox, Space, Tuple

Rows: TypeAlias = Any
"""A structure of arrays `[N, ...]`, as `space.zeros(N)` gives it."""


ROW_KINDS = {"f": "f", "i": "iu", "u": "iu", "b": "b", "O": "UO"}
"""Kind of a row's dtype -> kinds of dtypes that it accepts; as `BoxSpace.kinds`."""


def write_row(rows: Rows, index: int, value: Any, name: str = "state") -> None:
    """Writes one sample of a Space into row `index` of every leaf, cast to the leaf's dtype.

    Raises:
        EnvironmentFault: another structure, shape or kind of number; names the leaf, but not the environment.
    """
    if isinstance(rows, np.ndarray):
        fits = isinstance(value, np.ndarray | np.generic | bool | int | float | str)
        array = np.asarray(value) if fits else None
        if (
            array is None
            or array.shape != rows.shape[1:]
            or array.dtype.kind not in ROW_KINDS[rows.dtype.kind]
        ):
            given = type(value).__name__ if array is None else f"{array.dtype} of shape {array.shape}"
            raise EnvironmentFault(f"{name}: expected {rows.dtype} of shape {rows.shape[1:]}, given {given}.")
        check_integers(array, rows.dtype, name)
        rows[index, ...] = array  # without the dots, rows of objects would hold an array in place of a text
    elif isinstance(rows, dict):
        if not isinstance(value, dict) or value.keys() != rows.keys():
            keys = list(value) if isinstance(value, dict) else type(value).__name__
            raise EnvironmentFault(f"{name}: expected a dict with the keys {list(rows)}, given {keys}.")
        for key, leaf in rows.items():
            write_row(leaf, index, value[key], f"{name}/{key}")
    else:
        if not isinstance(value, tuple | list) or len(value) != len(rows):
            size = len(value) if isinstance(value, tuple | list) else type(value).__name__
            raise EnvironmentFault(f"{name}: expected a tuple of {len(rows)}, given {size}.")
        for i, (leaf, part) in enumerate(zip(rows, value, strict=True)):
            write_row(leaf, index, part, f"{name}/{i}")


def check_integers(array: np.ndarray[Any, Any], dtype: np.dtype[Any], name: str) -> None:
    """Raises `EnvironmentFault` without its place if a cast of an array to `dtype` would change integers."""
    if dtype.kind not in "iu" or np.can_cast(array.dtype, dtype) or not array.size:
        return
    low, high, info = array.min(), array.max(), np.iinfo(dtype)
    if low < info.min or high > info.max:
        raise EnvironmentFault(
            f"{name}: expected {dtype} values, given {low if low < info.min else high}, which it cannot hold."
        )


def copy_rows(target: Rows, source: Rows) -> None:
    """Copies every leaf of `source` into `target`."""
    if isinstance(target, np.ndarray):
        np.copyto(target, source)
    elif isinstance(target, dict):
        for key, leaf in target.items():
            copy_rows(leaf, source[key])
    else:
        for leaf, part in zip(target, source, strict=True):
            copy_rows(leaf, part)


def slice_rows(rows: Rows, part: slice) -> Rows:
    """Some rows of every leaf, as views."""
    return map_rows(lambda leaf: leaf[part], rows)


def map_rows(function: Callable[[Any], Any], rows: Rows) -> Rows:
    """`function` of every leaf, in the same structure."""
    if isinstance(rows, dict):
        return {key: map_rows(function, leaf) for key, leaf in rows.items()}
    if isinstance(rows, tuple):
        return tuple(map_rows(function, leaf) for leaf in rows)
    return function(rows)


def row_splitter(space: Space, size: int, name: str) -> Callable[[Any], Iterable[Any]]:
    """A function that splits a batch of actions into `size` single actions.

    Scalar ints and bools become Python numbers, others arrays (views of the batch); containers become dicts and
    tuples.

    The function raises:
        EnvironmentFault: a leaf has another shape than `[size, *leaf shape]` or another kind of number, or the
            structure differs from the Space; names the leaf.
    """
    if isinstance(space, Dict):
        return _split_dict(
            {key: row_splitter(part, size, f"{name}/{key}") for key, part in space.items()}, name
        )
    if isinstance(space, Tuple):
        return _split_tuple([row_splitter(part, size, f"{name}/{i}") for i, part in enumerate(space)], name)
    assert isinstance(space, BoxSpace)
    return _split_box(space, (size, *space.shape), name)


def _split_box(space: BoxSpace, shape: tuple[int, ...], name: str) -> Callable[[Any], Iterable[Any]]:
    kinds = space.kinds
    as_list = len(shape) == 1 and not isinstance(space, FloatBox)

    def split(batch: Any) -> Iterable[Any]:
        if not isinstance(batch, np.ndarray):
            batch = np.asarray(batch)
        if batch.shape != shape:
            raise EnvironmentFault(
                f"{name} has the shape {batch.shape}, expected {shape}: one row per environment."
            )
        if batch.dtype.kind not in kinds:
            raise EnvironmentFault(f"{name} has the dtype {batch.dtype}, expected {space.dtype}.")
        rows: list[Any] = batch.tolist() if as_list else list(batch)
        return rows

    return split


def _split_dict(
    parts: dict[str, Callable[[Any], Iterable[Any]]], name: str
) -> Callable[[Any], Iterable[Any]]:
    def split(batch: Any) -> Iterable[Any]:
        if not isinstance(batch, dict) or batch.keys() != parts.keys():
            given = sorted(batch) if isinstance(batch, dict) else type(batch).__name__
            raise EnvironmentFault(f"{name} is a dict with the keys {sorted(parts)}, got {given}.")
        leaves = [part(batch[key]) for key, part in parts.items()]
        return [dict(zip(parts, row, strict=True)) for row in zip(*leaves, strict=True)]

    return split


def _split_tuple(parts: list[Callable[[Any], Iterable[Any]]], name: str) -> Callable[[Any], Iterable[Any]]:
    def split(batch: Any) -> Iterable[Any]:
        if not isinstance(batch, (tuple, list)) or len(batch) != len(parts):
            given = f"{len(batch)}" if isinstance(batch, (tuple, list)) else type(batch).__name__
            raise EnvironmentFault(f"{name} is a tuple of {len(parts)}, got {given}.")
        return list(zip(*(part(leaf) for part, leaf in zip(parts, batch, strict=True)), strict=True))

    return split


def leaves_of(value: Any, path: str = "") -> Iterable[tuple[str, Any]]:
    """Every leaf of a structure with its path, such as `("/position", array)`; `("", array)` for a single array."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves_of(part, f"{path}/{key}")
    elif isinstance(value, (tuple, list)):
        for index, part in enumerate(value):
            yield from leaves_of(part, f"{path}/{index}")
    else:
        yield path, value
