"""Handles: what stands for a variable, or a block of variables, while a segment is traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from rlgraph.tf.variables import SegmentVariables


class VariableHandle:
    """A variable, or a block of variables, at the place of the program that is being traced.

    Operators, indexing and native TensorFlow functions see the value it has there. It is written with `ops.assign`,
    `ops.assign_add` and the operations on rows.

    Attributes:
        segment: the variables of the segment being traced.
        group: name of the group it belongs to.
        start, stop: its place in the group's buffer.
        shape: its shape; that of a block is ``[stop - start]``.
    """

    # NumPy scalars must leave mixed arithmetic to this class instead of taking it for an array of objects.
    __array_priority__ = 1000
    __array_ufunc__ = None

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
    def size(self) -> int:
        """Number of elements."""
        return self.stop - self.start

    @property
    def buffer(self) -> tf.Variable:
        """The variable ``[group size]`` that holds the whole group."""
        return self.segment.buffers[self.group]

    @property
    def is_whole(self) -> bool:
        """There is nothing else in the buffer."""
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
    *("__matmul__", "__rmatmul__", "__xor__", "__rxor__"),
    *("__and__", "__rand__", "__or__", "__ror__", "__invert__"),
    *("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"),
):
    setattr(VariableHandle, _name, _operator(_name))


def _to_tensor(
    handle: VariableHandle, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> tf.Tensor:
    return tf.convert_to_tensor(handle.value, dtype, name=name)


tf.register_tensor_conversion_function(VariableHandle, _to_tensor)
