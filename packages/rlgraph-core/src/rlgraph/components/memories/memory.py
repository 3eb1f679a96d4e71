"""What all memories are: a ring of records on the host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlgraph.core import Component, RLGraphError, SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, BoxSpace, Dict, IntBox, Space, SpaceError


def record_space(memory: Any, *_: Space) -> Space:
    """The Space of what a memory's host functions return as records."""
    space: Space = memory.record_space
    return space


class Memory(Component):
    """A ring of records; what comes out of it is for the classes below to say.

    It lives on the host, in NumPy: an insert costs well under a microsecond per field, on every backend.

    Args:
        capacity: number of records kept.
        scope: name among its siblings.

    Raises:
        SpecError: capacity below 1.
        SpaceError: the records are no `Dict` with batch rank.
    """

    ranks_may_differ = False

    def __init__(self, capacity: int = 1000, scope: str = "memory", **kwargs: Any):
        if isinstance(capacity, bool) or not isinstance(capacity, int) or capacity < 1:
            raise SpecError(f"{scope}.capacity: expected an integer >= 1, given {capacity!r}")
        self.capacity = capacity
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        space = input_spaces["records"]
        if not isinstance(space, Dict) or not space.has_batch_rank:
            raise SpaceError(f"{self.scope_path}: records must be a Dict with batch rank, given {space!r}")

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        self.record_space: Dict = input_spaces["records"]
        self.rows = {
            path: self.get_variable(f"rows/{path}", stacked(box, self.capacity), host=True)
            for path, box in self.record_space.flatten().items()
        }
        self.cursor = self.get_variable("cursor", IntBox(shape=(2,)), host=True)
        #: No field is a container itself; then nothing has to be taken apart or put together.
        self.flat = all("/" not in path for path in self.rows)
        self.keys = [[int(k) if k.isdigit() else k for k in path.split("/")] for path in self.rows]

    @rlgraph_api
    def insert_records(self, records: Any) -> Any:
        """Add ``records`` (a dict of fields [B, ...]); the oldest are overwritten when the ring is full."""
        return self._insert(records)

    @rlgraph_api
    def get_size(self) -> Any:
        """The number of records held, []."""
        return self._size()

    @graph_fn(returns=0, host=True, spaces=())
    def _insert(self, records: Any) -> None:
        self.write(records)

    @graph_fn(host=True, spaces=IntBox(), shares=())
    def _size(self) -> np.ndarray:
        return np.array(self.cursor[1])  # type: ignore[index]

    # The ring; for host functions only.

    def write(self, records: Any) -> tuple[int, int]:
        """Put `records` where the cursor stands, and move it on: where they begin, and how many they are."""
        fields = list(records.values()) if self.flat else [_part(records, keys) for keys in self.keys]
        count = len(fields[0])
        for values in fields:
            if len(values) != count:
                shown = ", ".join(f"{path}: {len(v)}" for path, v in zip(self.rows, fields, strict=True))
                raise RLGraphError(f"{self.scope_path}: records of different length: {shown}")
        cursor: Any = self.cursor
        index, size = cursor.tolist()
        end, columns = index + count, self.rows.values()
        rows: Any
        if count == 1:  # what one environment brings: a row costs half of a slice
            for rows, values in zip(columns, fields, strict=True):
                rows[index] = values[0]
        elif end <= self.capacity:
            for rows, values in zip(columns, fields, strict=True):
                rows[index:end] = values
        else:
            for rows, values in zip(columns, fields, strict=True):
                store(rows, index, values)
        cursor[0], cursor[1] = end % self.capacity, min(size + count, self.capacity)
        return index, count

    def filled(self) -> int:
        """The number of records held.

        Raises:
            RLGraphError: none.
        """
        size = int(self.cursor[1])  # type: ignore[index]
        if size == 0:
            raise RLGraphError(f"{self.scope_path} is empty: insert records before drawing from it")
        return size

    def read(self, indices: np.ndarray) -> Any:
        """The records at ``indices [N]``: fields [N, ...]."""
        held: Any = self.rows
        drawn = {path: rows.take(indices, axis=0) for path, rows in held.items()}
        return drawn if self.flat else self.record_space.unflatten_sample(drawn)


def stacked(box: BoxSpace, number: int) -> BoxSpace:
    """The Space of `number` elements of `box`, without bounds and ranks."""
    shape = (number, *box.shape)
    if isinstance(box, BoolBox):
        return BoolBox(shape=shape)
    return type(box)(shape=shape, dtype=box.dtype)  # type: ignore[call-arg]


def _part(records: Any, keys: list[str | int]) -> Any:
    for key in keys:
        records = records[key]
    return records


def store(rows: Any, index: int, values: np.ndarray) -> None:
    """Write ``values [n, ...]`` into the ring ``rows [capacity, ...]`` from `index` on, wrapping around."""
    capacity = len(rows)
    if len(values) > capacity:
        index = (index + len(values) - capacity) % capacity
        values = values[-capacity:]
    first = min(len(values), capacity - index)
    rows[index : index + first] = values[:first]
    if first < len(values):
        rows[: len(values) - first] = values[first:]
