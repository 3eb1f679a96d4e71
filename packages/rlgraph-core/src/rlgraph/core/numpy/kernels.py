"""Faster versions of graph functions for acting on NumPy, by the key of the function they replace.

The NumPy backend itself runs the single source alone, since it is what all others are held against. A program that
acts for another backend is called at every step of an environment: there a few Python calls are felt. A kernel is a
maker, given the component's view and `ops`, as those of the other backends are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from rlgraph.core.functional.activations import activation

Array = np.ndarray[Any, Any]


def dense(self: Any, ops: Any) -> Callable[[Array], Array]:
    """`Dense._call`, in place, with what it needs looked up already.

    Operands of one shape cost NumPy a third of what broadcast ones cost; most calls are of one row, so biases and zeros
    are rows.
    """
    weights, biases = self.weights, self.biases
    row = None if biases is None else biases.reshape(1, -1)
    activate = _activate(ops, self.activation, np.zeros((1, weights.shape[1]), weights.dtype))

    def call(inputs: Array) -> Array:
        outputs: Array = inputs.dot(weights)
        if row is not None:
            outputs += row
        return outputs if activate is None else activate(outputs)

    return call


def _activate(ops: Any, name: str | None, zeros: Array) -> Callable[[Array], Array] | None:
    match name:
        case None:
            return None
        case "relu":
            return partial(_rectify, zeros)
    return activation(ops, name)


def _rectify(zeros: Array, outputs: Array) -> Array:
    result: Array = np.maximum(outputs, zeros, out=outputs)
    return result


ACTING: dict[str, Callable[[Any, Any], Callable[..., Any]]] = {
    "rlgraph.components.layers.dense:Dense._call": dense,
}
