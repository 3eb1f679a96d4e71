"""The variables of a segment during tracing: reads and writes in program order, and derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from rlgraph.core.graph.variables import Block, Layout
from rlgraph.core.handle import Handle, HandleState
from rlgraph.core.ops import Effects
from rlgraph.tf.control import surrounding_graph
from rlgraph.tf.handles import VariableHandle

# Up to FEW elements of a group of MANY or more are gathered. Otherwise the whole group is read, once for all variables.
FEW, MANY = 64, 65536


@dataclass(frozen=True)
class Piece:
    """Elements `start` to `stop` of a group as read by the program; derivatives are taken by these."""

    group: str
    start: int
    stop: int
    tensor: tf.Tensor


class SegmentVariables(HandleState):
    """The variables of one segment during tracing.

    A group is read once per version: its variables are slices of one value, until a write to a variable requires a
    new read.

    Args:
        layout: the groups and offsets of the variables.
        buffers: group name -> the variable that holds the group.
        placed: the segment has devices; variables are then read and written on their own device.
    """

    handle_type = VariableHandle

    def __init__(self, layout: Layout, buffers: Mapping[str, tf.Variable], placed: bool = False):
        super().__init__(layout)
        self.buffers = buffers
        self.placed = placed
        # Per group the reads of its present version, by (start, stop) and by (start, stop, *shape).
        self._slices: dict[str, dict[tuple[int, int], tf.Tensor]] = {}
        self._values: dict[str, dict[tuple[int, ...], tf.Tensor]] = {}
        self._pieces: list[Piece] = []

    def reset(self) -> None:
        """Forget all reads after tracing."""
        self._slices.clear()
        self._values.clear()
        self._pieces.clear()

    def beside(self, group: str) -> AbstractContextManager[Any]:
        """The device of a group, for operations on its variable itself."""
        return tf.device(self.buffers[group].device) if self.placed else nullcontext()

    # Reading.

    def read(self, handle: Handle) -> tf.Tensor:
        """The value of `handle` at this point of the program."""
        values = self._values.setdefault(handle.group, {})
        key = (handle.start, handle.stop, *handle.shape)
        if key not in values:
            with surrounding_graph(), self.beside(handle.group):
                flat = self._slice(handle.group, handle.start, handle.stop)
                values[key] = flat if len(handle.shape) == 1 else tf.reshape(flat, handle.shape)
        return values[key]

    def _slice(self, group: str, start: int, stop: int) -> tf.Tensor:
        slices = self._slices.setdefault(group, {})
        if (start, stop) not in slices:
            size = self.layout.groups[group].size
            if (start, stop) == (0, size):
                tensor = self.buffers[group].read_value()
            elif stop - start <= FEW <= MANY <= size and not self.layout.groups[group].trainable:
                # A cursor next to a large buffer: after a read of both, the next write would copy the buffer.
                tensor = self.elements(group, tf.range(start, stop))
            else:
                tensor = tf.slice(self._slice(group, 0, size), [start], [stop - start])
            slices[start, stop] = tensor
            self._pieces.append(Piece(group, start, stop, tensor))
        return slices[start, stop]

    def elements(self, group: str, places: tf.Tensor) -> tf.Tensor:
        """The elements of a group at `places`, without reading the others. It has no derivative."""
        buffer = self.buffers[group]
        with self.beside(group):
            return tf.raw_ops.ResourceGather(resource=buffer.handle, indices=places, dtype=buffer.dtype)

    # Writing.

    def assign(self, handle: VariableHandle, value: Any) -> None:
        """Write `value`, a tensor of the handle's shape or a number."""
        with self.beside(handle.group):
            flat = _flat(handle, value)
            if handle.is_whole:
                handle.buffer.assign(flat, read_value=False)
            else:
                place: dict[str, Any] = {"begin": [handle.start], "end": [handle.stop], "strides": [1]}
                tf.raw_ops.ResourceStridedSliceAssign(ref=handle.buffer.handle, value=flat, **place)
        self.written(handle)

    def assign_add(self, handle: VariableHandle, value: Any) -> None:
        """Add `value`, a tensor of the handle's shape or a number."""
        with self.beside(handle.group):
            flat = _flat(handle, value)
            if handle.is_whole:
                handle.buffer.assign_add(flat, read_value=False)
        if handle.is_whole:
            self.written(handle)
        else:
            self.assign(handle, self._slice(handle.group, handle.start, handle.stop) + flat)

    def written(self, handle: VariableHandle) -> None:
        """Forget reads that overlap `handle`, which was written."""
        caches: tuple[dict[str, dict[Any, tf.Tensor]], ...] = (self._slices, self._values)
        for known in caches:
            entries = known.get(handle.group, {})
            for key in [key for key in entries if key[0] < handle.stop and handle.start < key[1]]:
                del entries[key]

    # Loops and branches, which TensorFlow traces to separate graphs.

    def read_ahead(self, effects: Effects) -> None:
        """Read the groups that a loop or branch reads but does not write, so that it uses the outer value."""
        for name in sorted(effects.reads - effects.writes):
            self.read(self._named(name))

    @contextmanager
    def inside(self, effects: Effects) -> Iterator[None]:
        """Context of a loop or branch: reads are valid only inside; written groups have a new version after it."""
        around = (self._slices, self._values, self._pieces)
        self._slices = {group: dict(slices) for group, slices in self._slices.items()}
        self._values = {group: dict(values) for group, values in self._values.items()}
        self._pieces = list(self._pieces)
        self._forget(effects)
        try:
            yield
        finally:
            self._slices, self._values, self._pieces = around
            self._forget(effects)

    def _forget(self, effects: Effects) -> None:
        for name in effects.writes - effects.draws:
            self.written(self._named(name))

    def _named(self, name: str) -> VariableHandle:
        group = self.layout.groups[self.layout.group_of[name]]
        return self.handle(next(v for v in group.variables if v.name == name))

    # Derivatives.

    def gradients(self, blocks: Sequence[Block], retain: bool) -> Callable[[tf.Tensor], list[tf.Tensor]]:
        """``f(loss)`` returning one flat derivative per block."""

        def gradients(loss: tf.Tensor) -> list[tf.Tensor]:
            groups = {block.group for block in blocks}
            pieces = [piece for piece in self._pieces if piece.group in groups]
            tensors = [piece.tensor for piece in pieces]
            # A whole read and its slices are separate: derivatives do not flow from one to the other.
            found = tf.gradients(loss, tensors, stop_gradients=tensors)
            known = [
                Piece(piece.group, piece.start, piece.stop, tf.convert_to_tensor(derivative))
                for piece, derivative in zip(pieces, found, strict=True)
                if derivative is not None
            ]
            return [derivative_of(block, known, self.buffers[block.group].dtype) for block in blocks]

        return gradients


def derivative_of(block: Block, known: Sequence[Piece], dtype: tf.DType) -> tf.Tensor:
    """The derivative by a block, from those by pieces.

    Disjoint pieces are concatenated, with zeros in the gaps; overlapping layers are added.
    """
    layers: list[list[tf.Tensor]] = []
    ends: list[int] = []
    for piece in sorted(known, key=lambda piece: piece.start):
        start, stop = max(piece.start, block.start), min(piece.stop, block.stop)
        if piece.group != block.group or start >= stop:
            continue
        layer = next((i for i, end in enumerate(ends) if end <= start), len(layers))
        if layer == len(layers):
            layers.append([])
            ends.append(block.start)
        _fill(layers[layer], start - ends[layer], dtype)
        whole = (start, stop) == (piece.start, piece.stop)
        part = piece.tensor if whole else piece.tensor[start - piece.start : stop - piece.start]
        layers[layer].append(part)
        ends[layer] = stop
    for parts, end in zip(layers, ends, strict=True):
        _fill(parts, block.stop - end, dtype)
    rows = [parts[0] if len(parts) == 1 else tf.concat(parts, 0) for parts in layers]
    if not rows:
        return tf.zeros([block.stop - block.start], dtype)
    return rows[0] if len(rows) == 1 else tf.add_n(rows)


def _fill(parts: list[tf.Tensor], size: int, dtype: tf.DType) -> None:
    if size:
        parts.append(tf.zeros([size], dtype))


def _flat(handle: VariableHandle, value: Any) -> tf.Tensor:
    """`value` in the handle's dtype, flat; a number fills it."""
    if isinstance(value, bool | int | float):
        return tf.constant(value, handle.dtype, [handle.size])
    tensor = tf.convert_to_tensor(value, handle.dtype)
    return tensor if len(tensor.shape) == 1 else tf.reshape(tensor, [handle.size])
