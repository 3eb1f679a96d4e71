"""Faster versions of graph functions for acting on NumPy, by the key of the function they replace.

The NumPy backend itself runs the single source alone, since it is the reference for all others. A program that
acts for another backend runs at every environment step, where a few Python calls matter. A kernel is a
maker, given the component's view and `ops`, like those of the other backends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rlgraph.core.functional.activations import activation

Array = np.ndarray[Any, Any]


def dense(self: Any, ops: Any) -> Callable[[Array], Array]:
    """`Dense._call`, in place, with all lookups done in advance.

    Operands of one shape cost NumPy a third of broadcast ones; most calls are of one row, so biases and zeros
    are rows.
    """
    weights, biases = self.weights, self.biases
    row = None if biases is None else biases.reshape(1, -1)
    if self.activation == "relu" and row is not None:
        return _rectified(weights, row, np.zeros_like(row))
    activate = None if self.activation is None else activation(ops, self.activation)

    def call(inputs: Array) -> Array:
        outputs: Array = inputs.dot(weights)
        if row is not None:
            outputs += row
        return outputs if activate is None else activate(outputs)

    return call


def _rectified(weights: Array, biases: Array, zeros: Array) -> Callable[[Array], Array]:
    """The usual layer, in one Python function."""
    maximum = np.maximum

    def call(inputs: Array) -> Array:
        outputs: Array = inputs.dot(weights)
        outputs += biases
        result: Array = maximum(outputs, zeros, out=outputs)
        return result

    return call


def argmax(self: Any, ops: Any) -> Callable[[str, Array], Array]:
    """`QPolicy._argmax`."""
    dtypes = {key: box.dtype for key, box in self.boxes.items()}

    def call(key: str, q_values: Array) -> Array:
        best: Array = q_values.argmax(-1)
        return best if dtypes[key] == "int64" else best.astype(dtypes[key])

    return call


def categorical_sample(self: Any, ops: Any) -> Callable[[Array], Array] | None:
    """`Categorical._sample` of integers from 0 on."""
    if not self.starts_at_zero or self.dtype != "int64":
        return None
    sample: Callable[[Array], Array] = ops.random_categorical
    return sample


ACTING: dict[str, Callable[[Any, Any], Callable[..., Any] | None]] = {
    "rlgraph.components.distributions.categorical:Categorical._sample": categorical_sample,
    "rlgraph.components.layers.dense:Dense._call": dense,
    "rlgraph.components.policies.q_policy:QPolicy._argmax": argmax,
}
