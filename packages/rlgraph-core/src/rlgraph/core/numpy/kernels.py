"""Faster versions of graph functions for acting on NumPy, by the key of the function they replace.

The NumPy backend itself runs the single source alone, since it is what all others are held against. A program that
acts for another backend is called at every step of an environment: there a few Python calls are felt. A kernel is a
maker, given the component's view and `ops`, as those of the other backends are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rlgraph.core.functional.activations import activation

Array = np.ndarray[Any, Any]


def dense(self: Any, ops: Any) -> Callable[[Array], Array]:
    """`Dense._call`, with what it needs looked up already, and the biases added in place."""
    weights, biases = self.weights, self.biases
    activate = None if self.activation is None else activation(ops, self.activation)

    def linear(inputs: Array) -> Array:
        outputs = inputs.dot(weights)
        if biases is not None:
            outputs += biases
        return outputs

    def activated(inputs: Array) -> Array:
        outputs = inputs.dot(weights)
        if biases is not None:
            outputs += biases
        result: Array = activate(outputs)  # type: ignore[misc]
        return result

    return linear if activate is None else activated


ACTING: dict[str, Callable[[Any, Any], Callable[..., Any]]] = {
    "rlgraph.components.layers.dense:Dense._call": dense,
}
