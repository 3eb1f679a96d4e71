"""Variables on TensorFlow: one flat `tf.Variable` per group."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import tensorflow as tf

from rlgraph.core.graph.variables import Layout, Variable
from rlgraph.core.random_streams import stream_seed
from rlgraph.core.storage import Storage
from rlgraph.tf.devices import CPU
from rlgraph.tf.modes import eager_only
from rlgraph.tf.random import Stream

#: Maximum size of a followed group on the CPU that every program that writes it also returns: reading it afterwards
#: takes four times as long as one more output of a small program. For larger groups the copy dominates.
FOLLOWED = 16_384


class TfStorage(Storage):
    """Flat `tf.Variable`s. Their memory is never shared: TensorFlow replaces a buffer with other references."""

    def __init__(self, layout: Layout, variables: Mapping[str, Variable], seed: int):
        super().__init__(layout, variables, seed)
        self.groups: dict[str, tf.Variable] = {}
        self.streams_by_name: dict[str, Stream] = {}
        #: The values of followed groups, as returned by the last program that wrote them.
        self.handed_out: dict[str, tf.Tensor] = {}
        self._followed: set[str] = set()
        self._written: set[str] = set()

    def create_group(self, name: str, values: np.ndarray) -> None:
        label = re.sub(r"\W", "_", name)
        group = self.layout.groups[name]
        with tf.device(group.device or None):
            self.groups[name] = tf.Variable(values, trainable=group.trainable, name=label)

    def share(self, other: Storage) -> None:
        assert isinstance(other, TfStorage)
        super().share(other)
        self.handed_out, self._followed, self._written = other.handed_out, other._followed, other._written

    def share_group(self, name: str, other: TfStorage) -> None:
        self.groups[name] = other.groups[name]

    @eager_only
    def read_group(self, name: str) -> np.ndarray:
        return self._value(name).numpy()

    @eager_only
    def fetch_groups(self, names: Sequence[str]) -> Callable[[], dict[str, np.ndarray]]:
        values = {name: self._value(name) for name in names}
        return lambda: {name: value.numpy() for name, value in values.items()}

    def _value(self, name: str) -> tf.Tensor:
        """The present value, which later writes do not change."""
        if (latest := self.handed_out.get(name)) is not None:
            return latest
        variable = self.groups[name]
        # `variable.numpy()` takes five times as long.
        return tf.raw_ops.ReadVariableOp(resource=variable.handle, dtype=variable.dtype)

    @eager_only
    def write_group(self, name: str, values: np.ndarray) -> None:
        variable = self.groups[name]
        self.handed_out.pop(name, None)
        variable.assign(np.asarray(values, variable.dtype.as_numpy_dtype), read_value=False)

    def follow_group(self, name: str) -> None:
        # If one program wrote it without returning it, the value from another one would be stale.
        group = self.layout.groups[name]
        is_worth_it = group.size <= FOLLOWED or group.device not in ("", CPU)
        if name not in self._written and is_worth_it:
            self._followed.add(name)

    def to_hand_out(self, written: Iterable[str]) -> list[str]:
        """The written groups that a program returns after its other outputs."""
        self._written.update(written)
        return sorted(self._followed.intersection(written))

    def tensor_stream(self, name: str) -> Stream:
        if name not in self.streams_by_name:
            seed = stream_seed(self.draw_seed, name)
            self.streams_by_name[name] = Stream(seed, re.sub(r"\W", "_", name))
        return self.streams_by_name[name]

    @eager_only
    def read_tensor_streams(self) -> dict[str, np.ndarray]:
        return {name: stream.state.numpy() for name, stream in self.streams_by_name.items()}

    @eager_only
    def write_tensor_streams(self, states: Mapping[str, np.ndarray]) -> None:
        for name, state in states.items():
            self.tensor_stream(name).state.assign(state)
