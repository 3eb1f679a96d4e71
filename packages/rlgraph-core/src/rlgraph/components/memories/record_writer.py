"""Generates functions that write a single record into a memory quickly.

NumPy takes longer to inspect an array than to copy four floats. So the source of the function contains all facts known
at build time: it compares shape and dtype directly, writes numbers through the memory's buffer, and copies a small row
as one item.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rlgraph.core.graph.emission import SourceFunction

#: Formats of numbers that a memoryview can write.
FORMATS = "bBhHiIlLqQfd?"
#: Bytes of the largest row that is copied as one item, which takes two copies.
SMALL = 512


@dataclass(frozen=True)
class Stacks:
    """Fields that are stacks of frames, each frame kept once.

    Attributes:
        positions: their positions among all fields.
        add: adds them, ``[1, ...]`` each, with the record's number and that of the oldest record to keep; False: it
            cannot, and nothing has changed.
        inserted: number of records inserted so far, [1].
    """

    positions: Sequence[int]
    add: Callable[..., bool]
    inserted: np.ndarray


def writer(
    capacity: int, rows: Sequence[np.ndarray], cursor: np.ndarray, stacks: Stacks | None = None
) -> Callable[..., bool] | None:
    """Return a function that writes one record at the cursor and advances it.

    Args:
        capacity: number of records kept.
        rows: the rows of each field, ``[capacity, ...]``; of stacks only the dtype and the other axes are used.
        cursor: index of the next record, and the number of records; [2].
        stacks: the fields stored elsewhere.

    Returns:
        ``f(*fields) -> bool``, the fields ``[1, ...]``. False: a shape or dtype differs from the rows;
        then nothing has changed. None if a field is text.
    """
    if any(row.dtype == object for row in rows):
        return None
    function = SourceFunction("write", [f"field_{i}" for i in range(len(rows))])
    fields = list(zip(function.parameters, rows, strict=True))
    plain = [field for i, field in enumerate(fields) if stacks is None or i not in stacks.positions]
    at = function.bind("cursor", cursor.data)
    function.lines = [
        f"if not ({' and '.join(_fits(function, name, row) for name, row in fields)}):",
        "    return False",
        f"index, size = {at}",
        *([] if stacks is None else _add_stacks(function, stacks, capacity)),
        *(_write(function, name, row) for name, row in plain),
        "index += 1",
        f"{at}[0] = 0 if index == {capacity} else index",
        f"if size < {capacity}:",
        f"    {at}[1] = size + 1",
        "return True",
    ]
    return function.compile()


def _add_stacks(function: SourceFunction, stacks: Stacks, capacity: int) -> list[str]:
    """Source that adds the stacks, or returns False."""
    inserted, add = function.bind("inserted", stacks.inserted.data), function.bind("add", stacks.add)
    names = ", ".join(function.parameters[i] for i in stacks.positions)
    return [
        f"number = {inserted}[0]",
        f"if not {add}({names}, number, number - size + (size == {capacity})):",
        "    return False",
        f"{inserted}[0] = number + 1",
    ]


def _fits(function: SourceFunction, name: str, row: np.ndarray) -> str:
    """Source of the check that a field is exactly one row."""
    array, dtype = function.share("ndarray", np.ndarray), function.share(f"dtype_{row.dtype}", row.dtype)
    shape = (
        f"{name}.shape == {(1, *row.shape[1:])}" if row.ndim > 1 else f"{name}.ndim == 1 and len({name}) == 1"
    )
    return f"type({name}) is {array} and {name}.dtype is {dtype} and {shape}"


def _write(function: SourceFunction, name: str, row: np.ndarray) -> str:
    """Source of the write of a field that fits."""
    size = row[:1].nbytes
    if row.ndim == 1:
        column, value = (row.data if row.data.format in FORMATS else row), f"{name}.item()"
    elif 0 < size <= SMALL:
        column, value = np.ndarray(len(row), f"S{size}", row.data), f"{name}.tobytes()"
    else:
        column, value = row, name
    return f"{function.bind(f'rows_of_{name}', column)}[index] = {value}"
