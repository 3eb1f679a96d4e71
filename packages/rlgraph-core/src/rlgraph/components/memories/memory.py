"""The base class of memories: a ring of records on the host."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np

from rlgraph.components.common.argument_checks import check_whole
from rlgraph.components.memories import record_writer
from rlgraph.components.memories.argument_checks import check_count
from rlgraph.components.memories.frame_stack import FrameStack
from rlgraph.components.memories.frame_store import FrameStore
from rlgraph.core import CheckpointError, Component, PerformanceWarning, RLGraphError, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, BoxSpace, Dict, FloatBox, IntBox, Space, SpaceError, TextBox
from rlgraph.spaces.ranks import is_fixed


def record_space(memory: Any, num_records: Any) -> Space:
    """The Space of the records that a memory's host functions return.

    Raises:
        SpaceError: `num_records` is not a whole number.
    """
    check_count(num_records, "num_records")
    space: Space = memory.record_space
    return space


class Memory(Component):
    """A ring of records; sub-classes define how records are drawn.

    It lives on the host, in NumPy: an insert costs well under a microsecond per field, on every backend. A record may
    be a whole fragment: then its Space has a time rank of a fixed size, ``Dict(..., add_batch_rank=True,
    add_time_rank=20)``, batch first.

    Args:
        capacity: number of records kept.

    Raises:
        SpecError: capacity below 1.
        SpaceError: the records are not a `Dict` of numbers with batch rank, or fragments of unknown length.
    """

    ranks_may_differ = False
    #: How frame stacks are stored; set by classes that support it.
    frame_stack: FrameStack | None = None
    _has_warned = False

    def __init__(self, capacity: int = 1000, scope: str = "memory", **kwargs: Any):
        self.capacity = check_whole(capacity, f"{scope}.capacity", least=1)
        super().__init__(scope=scope, **kwargs)

    def check_input_spaces(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        space = input_spaces["records"]
        if not isinstance(space, Dict) or not space.has_batch_rank:
            raise SpaceError(
                f"{self.scope_path}: records must be a Dict with batch rank, Dict(..., add_batch_rank=True), given "
                f"{space!r}"
            )
        if space.has_time_rank and (space.time_major or not is_fixed(space.time_rank)):
            raise SpaceError(
                f"{self.scope_path}: records: expected fragments [B, T, ...] of one length, add_time_rank=20, given "
                f"{space!r}"
            )
        for path, box in space.flatten().items():
            if isinstance(box, TextBox):
                raise SpaceError(f"{self.scope_path}: records/{path}: expected numbers, given {box!r}")

    def create_variables(self, input_spaces: Mapping[str, Any], action_space: Space | None = None) -> None:
        self.record_space: Dict = input_spaces["records"]
        leaves: Any = _time_in_shapes(self.record_space).flatten()
        #: Paths of the leaves that are stacks of frames, grouped by shared frames.
        self.stacks = {} if self.frame_stack is None else self.frame_stack.parts(leaves, self.scope_path)
        self.frame_variables = {
            (place, name): self.get_variable(f"stacks/{place or 'frames'}/{name}", space, host=True)
            for place, paths in self.stacks.items()
            for name, space in self.frame_stack.spaces(leaves[paths[0]], len(paths), self.capacity).items()  # type: ignore[union-attr]
        }
        stacked_paths = {path for paths in self.stacks.values() for path in paths}
        self.rows = {
            path: self.get_variable(f"rows/{path}", stacked(box, self.capacity), host=True)
            for path, box in leaves.items()
            if path not in stacked_paths
        }
        self.cursor = self.get_variable("cursor", IntBox(shape=(2,)), host=True)
        #: Number of records inserted so far, [1]; frames refer to it.
        self.inserted = self.get_variable("inserted", IntBox(shape=(1,)), host=True) if self.stacks else None
        #: No field is a container, so nothing has to be flattened or rebuilt.
        self.flat = all("/" not in path for path in leaves)
        self.paths = list(leaves)
        self.keys = [[int(k) if k.isdigit() else k for k in path.split("/")] for path in leaves]

    def check_stored(self, stored: Callable[[str], np.ndarray]) -> None:
        self.check_range("cursor", stored("cursor"), 0, np.array([self.capacity, self.capacity + 1]))
        for path, box in _time_in_shapes(self.record_space).flatten().items():
            if path in self.rows and (limits := _limits(box)) is not None:
                self.check_range(f"rows/{path}", stored(f"rows/{path}"), *limits)
        for place in self.stacks:
            folder, frames = f"stacks/{place or 'frames'}", self.frame_variables[place, "users"].shape[0]
            for name in ("pointers", "tail_pointers", "free"):
                self.check_range(f"{folder}/{name}", stored(f"{folder}/{name}"), 0, frames)
            counts = stored(f"{folder}/state")[:2]
            self.check_range(f"{folder}/state", counts, 0, np.array([np.inf, frames + 1]))
        if self.stacks:
            self.check_range("inserted", stored("inserted"), stored("cursor")[1], np.inf)

    def check_range(self, name: str, values: np.ndarray, low: Any, high: Any) -> None:
        """Refuse values of a checkpoint for the variable `name` outside ``low <= value < high``.

        Raises:
            CheckpointError: one is outside; names the variable.
        """
        if len(outside := values[~((values >= low) & (values < high))]):
            raise CheckpointError(
                f"{self.scope_path}/{name}: expected numbers from {np.min(low)} to below {np.max(high)}, given "
                f"{outside[0]}: the file was changed or damaged; load another checkpoint"
            )

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

    @_insert.fast_path
    def _insert_one(self) -> Callable[..., bool] | None:
        return self.writer_of_one()

    @graph_fn(host=True, spaces=IntBox(), shares=())
    def _size(self) -> np.ndarray:
        return np.array(self.cursor[1])  # type: ignore[index]

    # The ring; for host functions only.

    def write(self, records: Any) -> tuple[int, int]:
        """Write `records` at the cursor and advance it; return their first index and their number."""
        fields = self.fields_of(records)
        count = len(fields[0])
        if self.stacks:
            return self._write_with_frames(dict(zip(self.paths, fields, strict=True)), count)
        cursor: Any = self.cursor
        index, size = cursor.tolist()
        self._write_rows(fields, index, count)
        cursor[0], cursor[1] = (index + count) % self.capacity, min(size + count, self.capacity)
        return index, count

    def fields_of(self, records: Any) -> list[Any]:
        """The leaves of `records`, of one length.

        Raises:
            RLGraphError: their lengths differ.
        """
        fields = list(records.values()) if self.flat else [_part(records, keys) for keys in self.keys]
        count = len(fields[0])
        for values in fields:
            if len(values) != count:
                shown = ", ".join(f"{path}: {len(v)}" for path, v in zip(self.paths, fields, strict=True))
                raise RLGraphError(f"{self.scope_path}: records of different length: {shown}")
        return fields

    def writer_of_one(self) -> Callable[..., bool] | None:
        """`write` of a single record, given as its fields, if a fast writer exists (see `record_writer`)."""
        if type(self).write is not Memory.write:
            return None
        rows, cursor, inserted = (cast(Any, held) for held in (self.rows, self.cursor, self.inserted))
        if not self.stacks:
            return record_writer.writer(self.capacity, list(rows.values()), cursor)
        ((place, paths),) = self.stacks.items() if len(self.stacks) == 1 else (("", ()),)
        if len(paths) != 2:
            return None
        frames = self.frame_stores[place]
        fields = [rows.get(path, frames.tails) for path in self.paths]
        stacks = record_writer.Stacks([self.paths.index(path) for path in paths], frames.add_next, inserted)
        return record_writer.writer(self.capacity, fields, cursor, stacks)

    def _write_rows(self, fields: Sequence[Any], index: int, count: int) -> None:
        """Write plain fields into their rows starting at `index`."""
        columns: Any = self.rows.values()
        if count == 1:  # one environment: a row costs half of a slice
            for column, values in zip(columns, fields):  # noqa: B905 - a third of the time; they are as many
                column[index] = values[0]
        else:
            for column, values in zip(columns, fields, strict=True):
                store(column, index, values)

    def _write_with_frames(self, fields: Mapping[str, Any], count: int) -> tuple[int, int]:
        """`write` with stacks of frames: if free frames run out, the oldest records are removed early."""
        cursor: Any = self.cursor
        inserted: Any = self.inserted
        (index, size), number = cursor.tolist(), int(inserted[0])
        self._write_rows([fields[path] for path in self.rows], index, count)
        by_ring = oldest = max(number - size, number + count - self.capacity)
        for place, frames in self.frame_stores.items():
            oldest = frames.add([fields[path] for path in self.stacks[place]], number, oldest)
        cursor[0], cursor[1] = (index + count) % self.capacity, number + count - oldest
        inserted[0] = number + count
        if oldest > by_ring:
            self._warn_of_lack()
            self.forget(by_ring % self.capacity, oldest - by_ring)
        first = max(number, oldest)
        return first % self.capacity, number + count - first

    def forget(self, index: int, count: int) -> None:
        """Called when records at these indices are removed; for classes that keep data per record."""

    @cached_property
    def frame_stores(self) -> dict[str, FrameStore]:
        """The stores of the stacks, by path; for host functions only."""
        arrays: Any = self.frame_variables
        return {
            place: FrameStore(
                self.frame_stack.axis,  # type: ignore[union-attr]
                {name: array for (at, name), array in arrays.items() if at == place},
                self.use_kernels,  # type: ignore[attr-defined]
            )
            for place in self.stacks
        }

    def _warn_of_lack(self) -> None:
        if not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"{self.scope_path}: no space is left for frames: it holds {int(self.cursor[1])} of "  # type: ignore[index]
                f"{self.capacity} records. Raise frame_stack.frames_per_record, or check that observations are "
                f"stacks of {self.frame_stack.size} frames",  # type: ignore[union-attr]
                PerformanceWarning,
                stacklevel=2,
            )

    def filled(self) -> int:
        """The number of records held.

        Raises:
            RLGraphError: it is empty.
        """
        size = int(self.cursor[1])  # type: ignore[index]
        if size == 0:
            raise RLGraphError(f"{self.scope_path} is empty: insert records before drawing from it")
        return size

    def oldest(self) -> int:
        """The index of the oldest record, modulo the capacity; 0 if the ring is full."""
        index, size = self.cursor.tolist()  # type: ignore[attr-defined]
        return 0 if size == self.capacity else (index - size) % self.capacity

    def read(self, indices: np.ndarray) -> Any:
        """The records at ``indices [N]``: fields [N, ...]."""
        held: Any = self.rows
        drawn = {path: rows.take(indices, axis=0) for path, rows in held.items()}
        for place, paths in self.stacks.items():
            drawn.update(zip(paths, self.frame_stores[place].read(indices), strict=True))
        return drawn if self.flat else self.record_space.unflatten_sample(drawn)


def stacked(box: BoxSpace, number: int) -> BoxSpace:
    """The Space of `number` elements of `box`, without bounds and ranks."""
    shape = (number, *box.shape)
    if isinstance(box, BoolBox):
        return BoolBox(shape=shape)
    return type(box)(shape=shape, dtype=box.dtype)  # type: ignore[call-arg]


def _time_in_shapes(space: Dict) -> Any:
    """The same records with their time rank as the first axis of every field."""
    if not space.has_time_rank:
        return space
    time = int(space.time_rank)
    return space.map(lambda _, box: stacked(box, time)).with_batch_rank(space.batch_rank)


def _limits(box: BoxSpace) -> tuple[Any, Any] | None:
    """The limits of records in a memory: finite floats, integers of the Space and 0, which records may lack.

    None: all values of the dtype are within them.
    """
    if isinstance(box, FloatBox):
        return np.finfo(box.dtype).min, np.inf
    if not isinstance(box, IntBox):
        return None
    info = np.iinfo(box.dtype)
    low = info.min if box.low is None else np.minimum(box.low, 0)
    high = info.max + 1 if box.high is None else np.maximum(box.high, 1)
    return None if np.max(low) <= info.min and np.min(high) > info.max else (low, high)


def _part(records: Any, keys: list[str | int]) -> Any:
    for key in keys:
        records = records[key]
    return records


def store(rows: Any, index: int, values: np.ndarray) -> None:
    """Write ``values [n, ...]`` into the ring ``rows [capacity, ...]`` starting at `index`, wrapping around."""
    capacity = len(rows)
    if len(values) > capacity:
        index = (index + len(values) - capacity) % capacity
        values = values[-capacity:]
    first = min(len(values), capacity - index)
    rows[index : index + first] = values[:first]
    if first < len(values):
        rows[: len(values) - first] = values[first:]
