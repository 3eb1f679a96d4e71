"""Handles of variables and blocks of variables during tracing."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from rlgraph.core.handle import Handle


class VariableHandle(Handle):
    """A handle that native TensorFlow functions accept too.

    It is written with `ops.assign`, `ops.assign_add` and the operations on rows.
    """

    def __init__(self, state: Any, group: str, start: int, stop: int, shape: tuple[int, ...]):
        super().__init__(state, group, start, stop, tf.TensorShape(shape))

    @property
    def dtype(self) -> tf.DType:
        return self.buffer.dtype

    @property
    def buffer(self) -> tf.Variable:
        """The variable ``[group size]`` that holds the whole group."""
        return self.state.buffers[self.group]

    @property
    def is_whole(self) -> bool:
        """Whether the handle covers the whole buffer."""
        return self.start == 0 and [self.stop] == self.buffer.shape


def _to_tensor(
    handle: VariableHandle, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> tf.Tensor:
    return tf.convert_to_tensor(handle.value, dtype, name=name)


tf.register_tensor_conversion_function(VariableHandle, _to_tensor)
