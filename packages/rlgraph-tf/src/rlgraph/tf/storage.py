"""Variables on TensorFlow: one flat `tf.Variable` per group."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import tensorflow as tf

from rlgraph.core.backend import Storage
from rlgraph.core.graph.variables import Layout, Variable


class TfStorage(Storage):
    """Flat `tf.Variable`s. Their memory is never lent: TensorFlow replaces a buffer that somebody else looks at."""

    def __init__(self, layout: Layout, variables: Mapping[str, Variable], seed: int):
        super().__init__(layout, variables, seed)
        self.groups: dict[str, tf.Variable] = {}

    def create_group(self, name: str, values: np.ndarray) -> None:
        label = re.sub(r"\W", "_", name)
        self.groups[name] = tf.Variable(values, trainable=self.layout.groups[name].trainable, name=label)

    def read_group(self, name: str) -> np.ndarray:
        variable = self.groups[name]
        # `variable.numpy()` does the same in five times the time.
        value = tf.raw_ops.ReadVariableOp(resource=variable.handle, dtype=variable.dtype)
        return value.numpy()

    def write_group(self, name: str, values: np.ndarray) -> None:
        variable = self.groups[name]
        variable.assign(np.asarray(values, variable.dtype.as_numpy_dtype), read_value=False)
