"""Generates functions that write a single record into a memory quickly.

NumPy takes longer to look at an array than to copy four floats. So all that is known of the records at the build stands
in the source of a function: what an array must be like is compared directly, a number goes through the memory's buffer,
and the few bytes of a small row are one item.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rlgraph.core.graph.emission import SourceFunction

#: Formats of numbers that a memoryview writes.
FORMATS = "bBhHiIlLqQfd?"
#: Bytes of the largest row that is copied twice, since it is an item then.
SMALL = 512


@dataclass(frozen=True)
class Stacks:
    """Fields that are stacks of frames which are kept once.

    Attributes:
        positions: of these fields among all.
        add: takes them in, ``[1, ...]`` each, with the record's number and that of the oldest one that is to be there
            afterwards; False: it cannot, and nothing has happened.
        inserted: how many records there have ever been, [1].
    """

    positions: Sequence[int]
    add: Callable[..., bool]
    inserted: np.ndarray


def writer(
    capacity: int, rows: Sequence[np.ndarray], cursor: np.ndarray, stacks: Stacks | None = None
) -> Callable[..., bool] | None:
    """A function that puts one record where the cursor stands, and moves it on.

    Args:
        capacity: number of records kept.
        rows: of each field, ``[capacity, ...]``; of stacks only the dtype and the other axes count.
        cursor: where the next record goes, and how many there are; [2].
        stacks: the fields that go elsewhere.

    Returns:
        ``f(*fields) -> bool``, the fields ``[1, ...]``. False: they are not exactly that, with the dtypes of the rows;
        then nothing has happened. None where a field is text.
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
    """Source that takes in the stacks, or gives up."""
    inserted, add = function.bind("inserted", stacks.inserted.data), function.bind("add", stacks.add)
    names = ", ".join(function.parameters[i] for i in stacks.positions)
    return [
        f"number = {inserted}[0]",
        f"if not {add}({names}, number, number - size + (size == {capacity})):",
        "    return False",
        f"{inserted}[0] = number + 1",
    ]


def _fits(function: SourceFunction, name: str, row: np.ndarray) -> str:
    """Source of the question whether a field is one row exactly."""
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
