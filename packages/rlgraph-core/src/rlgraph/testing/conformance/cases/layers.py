"""Cases of layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlgraph.components import Conv2D, Dense, MaxPool2D
from rlgraph.core import Component
from rlgraph.spaces import FloatBox
from rlgraph.testing.conformance.cases.case import FEATURES, Case


def _dense(**options: Any) -> Case:
    return Case(lambda: Dense(4, **options), {"inputs": FEATURES}, ("call",), by=("inputs",))


def _image(make: Callable[[], Component]) -> Case:
    return Case(make, {"inputs": FloatBox(shape=(5, 6, 2), add_batch_rank=True)}, ("call",), by=("inputs",))


def _conv(**options: Any) -> Case:
    return _image(lambda: Conv2D(3, (2, 3), **options))


CASES: dict[str, Case] = {
    "conv2d": _conv(),
    "conv2d_elu_without_biases": _conv(activation="elu", biases_spec=False, padding="same"),
    "conv2d_relu": _conv(activation="relu", biases_spec=0.5, strides=2),
    "conv2d_tanh_same": _conv(activation="tanh", biases_spec=0.5, strides=(2, 1), padding="same"),
    "dense": _dense(),
    "dense_elu": _dense(activation="elu"),
    "dense_relu": _dense(activation="relu", biases_spec={"type": "normal", "stddev": 1.0}),
    "dense_tanh_without_biases": _dense(activation="tanh", biases_spec=False),
    "max_pool2d": _image(lambda: MaxPool2D((2, 3), 1, "same")),
}
