"""Variables inside one traced segment: handles that read and write slices of the flat groups in program order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from rlgraph.core.graph.variables import Block, Layout, Variable, VariableList

#: Up to this many elements a group is cut into its variables by one operation; of a larger one only the pieces that
#: are asked for are cut out, since each costs a copy.
SPLIT_LIMIT = 1 << 16


class VariableHandle:
    """What stands for a variable, or a block of variables, while a segment is traced.

    Operators, indexing and native TensorFlow functions see the value at that place of the program. It is written with
    `ops.assign` and `ops.assign_add`.

    Attributes:
        segment: the variables of the segment being traced.
        group: name of the group.
        start, stop: place in the group's buffer.
        shape: its shape; a block is ``[stop - start]``.
    """

    # NumPy scalars must leave mixed arithmetic to this class instead of taking it for an array of objects.
    __array_priority__ = 1000
    __array_ufunc__ = None
    __hash__ = object.__hash__

    def __init__(self, segment: SegmentVariables, group: str, start: int, stop: int, shape: tuple[int, ...]):
        self.segment = segment
        self.group, self.start, self.stop = group, start, stop
        self.shape = tf.TensorShape(shape)

    @property
    def value(self) -> tf.Tensor:
        """The value now."""
        return self.segment.read(self)

    @property
    def dtype(self) -> tf.DType:
        return self.buffer.dtype

    @property
    def buffer(self) -> tf.Variable:
        """The variable that holds the whole group."""
        return self.segment.buffers[self.group]

    @property
    def is_whole(self) -> bool:
        """It is all of the group's buffer."""
        return self.start == 0 and [self.stop] == self.buffer.shape

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.group}[{self.start}:{self.stop}] {self.shape}>"

    def __getitem__(self, key: Any) -> tf.Tensor:
        return self.value[key]


def _operator(name: str) -> Callable[..., Any]:
    def operator(self: VariableHandle, *operands: Any) -> Any:
        return getattr(self.value, name)(*operands)

    operator.__name__ = name
    return operator


for _name in (
    *("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__", "__rtruediv__"),
    *("__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__pow__", "__rpow__", "__neg__"),
    *("__and__", "__rand__", "__or__", "__ror__", "__invert__"),
    *("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"),
):
    setattr(VariableHandle, _name, _operator(_name))


def _to_tensor(handle: VariableHandle, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> tf.Tensor:
    return tf.convert_to_tensor(handle.value, dtype, name=name)


tf.register_tensor_conversion_function(VariableHandle, _to_tensor)


@dataclass(frozen=True)
class _Leaf:
    """A piece of a group that the program has read: what derivatives are taken by."""

    group: str
    start: int
    stop: int
    tensor: tf.Tensor


class SegmentVariables:
    """The variables of one segment while it is traced.

    A group is read once per version: all its named variables are pieces of the same value, until a write to the group
    makes the next read a new one.

    Args:
        layout: where the variables live.
        buffers: the flat variable of each group.
    """

    def __init__(self, layout: Layout, buffers: Mapping[str, tf.Variable]):
        self.layout = layout
        self.buffers = buffers
        self._reads: dict[str, tf.Tensor] = {}
        self._pieces: dict[str, dict[tuple[int, int], tf.Tensor]] = {}
        self._shaped: dict[str, dict[tuple[Any, ...], tf.Tensor]] = {}
        self._leaves: list[_Leaf] = []

    def reset(self) -> None:
        """Forget everything read so far: a new trace begins."""
        self._reads.clear()
        self._pieces.clear()
        self._shaped.clear()
        self._leaves.clear()

    def handle(self, variable: Variable) -> VariableHandle:
        """The handle that is `variable`."""
        group, start, stop = self.layout.place(variable)
        return VariableHandle(self, group, start, stop, variable.shape)

    def block(self, block: Block) -> VariableHandle:
        """The flat handle that is `block`."""
        return VariableHandle(self, block.group, block.start, block.stop, (block.stop - block.start,))

    # Reading.

    def read(self, handle: VariableHandle) -> tf.Tensor:
        """The value of `handle` at this place of the program."""
        shaped = self._shaped.setdefault(handle.group, {})
        key = (handle.start, handle.stop, *handle.shape.as_list())
        if key not in shaped:
            piece = self._piece(handle.group, handle.start, handle.stop)
            shaped[key] = piece if handle.shape == piece.shape else tf.reshape(piece, handle.shape)
        return shaped[key]

    def _piece(self, group: str, start: int, stop: int) -> tf.Tensor:
        """``[stop - start]``: elements `start` to `stop` of a group."""
        pieces = self._pieces.setdefault(group, {})
        if (start, stop) not in pieces:
            size = self.layout.groups[group].size
            if (start, stop) == (0, size):
                pieces[start, stop] = self._buffer(group)
            elif size <= SPLIT_LIMIT and not pieces.keys() - {(0, size)} and (start, stop) in self._places(group):
                places = self._places(group)
                pieces.update(zip(places, tf.split(self._buffer(group), [b - a for a, b in places]), strict=True))
            else:
                pieces[start, stop] = tf.slice(self._buffer(group), [start], [stop - start])
            self._leaves.extend(
                _Leaf(group, a, b, tensor)
                for (a, b), tensor in pieces.items()
                if all(leaf.tensor is not tensor for leaf in self._leaves)
            )
        return pieces[start, stop]

    def _buffer(self, group: str) -> tf.Tensor:
        if group not in self._reads:
            self._reads[group] = self.buffers[group].read_value()
        return self._reads[group]

    def _places(self, group: str) -> list[tuple[int, int]]:
        places = (self.layout.place(variable) for variable in self.layout.groups[group].variables)
        return [(start, stop) for _, start, stop in places]

    # Writing.

    def assign(self, handle: VariableHandle, value: Any) -> None:
        """Write `value`, a tensor of the handle's shape or a number."""
        buffer, flat = handle.buffer, _flat(handle, value)
        if handle.is_whole:
            buffer.assign(flat, read_value=False)
        else:
            tf.raw_ops.ResourceStridedSliceAssign(
                ref=buffer.handle, begin=[handle.start], end=[handle.stop], strides=[1], value=flat
            )
        self.invalidate(handle)

    def assign_add(self, handle: VariableHandle, value: Any) -> None:
        """Add `value`, a tensor of the handle's shape or a number."""
        if handle.is_whole:
            handle.buffer.assign_add(_flat(handle, value), read_value=False)
            self.invalidate(handle)
        else:
            self.assign(handle, self._piece(handle.group, handle.start, handle.stop) + _flat(handle, value))

    def invalidate(self, handle: VariableHandle) -> None:
        """The group of `handle` was written: its next read is a new one."""
        for cache in (self._reads, self._pieces, self._shaped):
            cache.pop(handle.group, None)  # type: ignore[attr-defined]

    # Differentiating.

    def gradients(
        self, variables: VariableList, blocks: Sequence[Block], retain: bool
    ) -> Callable[[tf.Tensor], list[tf.Tensor]]:
        """``f(loss)`` giving one flat derivative per block."""

        def gradients(loss: tf.Tensor) -> list[tf.Tensor]:
            groups = {block.group for block in blocks}
            leaves = [leaf for leaf in self._leaves if leaf.group in groups]
            tensors = [leaf.tensor for leaf in leaves]
            # A whole read and the pieces cut out of it are separate leaves: nothing counts twice.
            found = tf.gradients(loss, tensors, stop_gradients=tensors)
            known = [
                (leaf, tf.convert_to_tensor(derivative))
                for leaf, derivative in zip(leaves, found, strict=True)
                if derivative is not None
            ]
            return [self._assemble(block, known) for block in blocks]

        return gradients

    def _assemble(self, block: Block, known: Sequence[tuple[_Leaf, tf.Tensor]]) -> tf.Tensor:
        """The derivative by a block: those by its pieces side by side, zeros between them."""
        dtype = self.buffers[block.group].dtype
        rows: list[list[tf.Tensor]] = []
        ends: list[int] = []

        def fill(row: int, stop: int) -> None:
            if ends[row] < stop:
                rows[row].append(tf.zeros([stop - ends[row]], dtype))
                ends[row] = stop

        for leaf, derivative in sorted(known, key=lambda item: item[0].start):
            start, stop = max(leaf.start, block.start), min(leaf.stop, block.stop)
            if leaf.group != block.group or start >= stop:
                continue
            row = next((i for i, end in enumerate(ends) if end <= start), len(rows))
            if row == len(rows):
                rows.append([])
                ends.append(block.start)
            fill(row, start)
            inside = (start, stop) == (leaf.start, leaf.stop)
            rows[row].append(derivative if inside else derivative[start - leaf.start : stop - leaf.start])
            ends[row] = stop
        for row in range(len(rows)):
            fill(row, block.stop)
        sums = [parts[0] if len(parts) == 1 else tf.concat(parts, 0) for parts in rows]
        if not sums:
            return tf.zeros([block.stop - block.start], dtype)
        return sums[0] if len(sums) == 1 else tf.add_n(sums)


def _flat(handle: VariableHandle, value: Any) -> tf.Tensor:
    """`value` in the handle's dtype, flat; a number fills it."""
    size = [handle.stop - handle.start]
    if isinstance(value, bool | int | float):
        return tf.constant(value, handle.dtype, size)
    tensor = tf.convert_to_tensor(value, handle.dtype)
    return tensor if len(tensor.shape) == 1 else tf.reshape(tensor, size)
