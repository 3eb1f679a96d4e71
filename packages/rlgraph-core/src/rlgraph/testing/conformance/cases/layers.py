"""Cases of layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlgraph.components import (
    Activation,
    Concat,
    Conv2D,
    Conv2DTranspose,
    Dense,
    Dropout,
    EmbeddingLookup,
    LayerNorm,
    LocalResponseNorm,
    MaxPool2D,
    NoisyDense,
    Residual,
    StringToHashBucket,
)
from rlgraph.core import Component, graph_fn, rlgraph_api
from rlgraph.core.functional.activations import ACTIVATIONS
from rlgraph.spaces import Dict, FloatBox, IntBox, TextBox
from rlgraph.testing.conformance.cases.case import FEATURES, Case

TIME = FloatBox(shape=(3,), add_batch_rank=True, add_time_rank=True)
TIME_MAJOR = TIME.with_extra_ranks(time_major=True)
WORDS = IntBox(6, add_batch_rank=True, add_time_rank=True)


def _layer(make: Callable[[], Component], space: FloatBox = FEATURES) -> Case:
    return Case(make, {"inputs": space}, ("call",), by=("inputs",))


def _dense(space: FloatBox = FEATURES, **options: Any) -> Case:
    return _layer(lambda: Dense(4, **options), space)


def _image(make: Callable[[], Component]) -> Case:
    return _layer(make, FloatBox(shape=(5, 6, 2), add_batch_rank=True))


def _conv(**options: Any) -> Case:
    return _image(lambda: Conv2D(3, (2, 3), **options))


def _transposed(**options: Any) -> Case:
    return _image(lambda: Conv2DTranspose(3, (2, 3), **options))


def _noisy(*methods: str, space: FloatBox = FEATURES, **options: Any) -> Case:
    return Case(
        lambda: NoisyDense(4, noise_per_call=False, **options), {"inputs": space}, methods, by=("inputs",)
    )


def _lookup(ids: Any, **options: Any) -> Case:
    return Case(lambda: EmbeddingLookup(3, 6, **options), {"ids": ids}, ("call",))


class ScaledLookup(Component):
    """Rows of a table times factors: something to differentiate by beside the table."""

    def __init__(self) -> None:
        self.lookup = EmbeddingLookup(3, 6, scope="lookup")
        super().__init__(self.lookup, scope="scaled-lookup")

    @rlgraph_api
    def call(self, ids: Any, factors: Any) -> Any:
        return self._scaled(self.lookup.call(ids), factors)

    @graph_fn
    def _scaled(self, ops: Any, rows: Any, factors: Any) -> Any:
        return rows * factors


def _rows(number: int) -> FloatBox:
    return FloatBox(shape=(number, 2), add_batch_rank=True)


def _residual(unit: Any, space: FloatBox = FEATURES, **options: Any) -> Case:
    return _layer(lambda: Residual(unit, **options), space)


def _text(space: Any, **options: Any) -> Case:
    return Case(lambda: StringToHashBucket(**options), {"text_inputs": space}, ("call",))


CASES: dict[str, Case] = {
    **{
        f"activation_{name}": _layer(lambda name=name: Activation(name))  # type: ignore[misc]
        for name in [*ACTIVATIONS, "linear"]
    },
    "activation": _layer(lambda: Activation("tanh", scope="nonlinearity")),
    "activation_softmax_time": _layer(lambda: Activation("softmax"), TIME_MAJOR),
    "concat_rows": Case(
        lambda: Concat(axis=0, dict_keys=["b/c", "a"]),
        {"inputs": Dict(a=_rows(2), b={"c": _rows(3), "d": FEATURES})},
        ("call",),
        by=("inputs",),
    ),
    "conv2d": _conv(),
    "conv2d_elu_without_biases": _conv(activation="elu", biases_spec=False, padding="same"),
    "conv2d_lrelu": _conv(activation="lrelu"),
    "conv2d_relu": _conv(activation="relu", biases_spec=0.5, strides=2),
    "conv2d_tanh_same": _conv(activation="tanh", biases_spec=0.5, strides=(2, 1), padding="same"),
    "conv2d_transpose": _transposed(biases_spec=0.5),
    "conv2d_transpose_tanh_same": _transposed(activation="tanh", strides=(2, 1), padding="same"),
    "conv2d_transpose_without_biases": _transposed(biases_spec=False, strides=(1, 3)),
    "dense": _dense(),
    "dense_crelu": _dense(activation="crelu"),
    "dense_elu": _dense(activation="elu"),
    "dense_relu": _dense(activation="relu", biases_spec={"type": "normal", "stddev": 1.0}),
    "dense_relu_time_major": _dense(TIME_MAJOR, activation="relu"),
    "dense_sigmoid": _dense(activation="sigmoid"),
    "dense_softplus": _dense(activation="softplus"),
    "dense_swish_without_biases": _dense(activation="swish", biases_spec=False),
    "dense_tanh_without_biases": _dense(activation="tanh", biases_spec=False),
    "dense_time": _dense(TIME, biases_spec=0.1),
    "dropout": _layer(Dropout),
    "dropout_time": _layer(Dropout, TIME),
    "embedding_lookup": _lookup(IntBox(6, add_batch_rank=True)),
    "embedding_lookup_frozen": _lookup(
        IntBox(5, shape=(2,), dtype="int32", add_batch_rank=True), trainable=False
    ),
    "embedding_lookup_nested": _lookup(Dict(a=IntBox(6), b={"c": IntBox(2)}, add_batch_rank=True)),
    "embedding_lookup_scaled": Case(
        ScaledLookup, {"ids": IntBox(6, add_batch_rank=True), "factors": FEATURES}, ("call",), by=("factors",)
    ),
    "embedding_lookup_time": _lookup(WORDS),
    "layer_norm": _layer(LayerNorm),
    "layer_norm_time": _layer(lambda: LayerNorm(0.01, scale_spec=[0.5, 1.0, 2.0], offset_spec=0.5), TIME),
    "layer_norm_without_variables": _layer(lambda: LayerNorm(scale_spec=False, offset_spec=False)),
    "local_response_norm": _image(lambda: LocalResponseNorm(1)),
    "local_response_norm_time": _layer(lambda: LocalResponseNorm(1, 2.0, 0.5, 0.75), TIME),
    "max_pool2d": _image(lambda: MaxPool2D((2, 3), 1, "same")),
    "noisy_dense": _noisy("call"),
    "noisy_dense_independent": _noisy("call", noise="independent", sigma=0.5, activation="tanh"),
    "noisy_dense_time": _noisy("call", space=TIME_MAJOR),
    "residual": _residual({"type": "dense", "units": 3, "activation": "tanh"}),
    "residual_convolutions": _image(
        lambda: Residual(
            [{"type": "conv2d", "filters": 2, "kernel_size": 3, "padding": "same"}], activation="tanh"
        )
    ),
    "residual_time": _residual(
        [{"type": "dense", "units": 5}, {"type": "dense", "units": 3}], TIME, repeats=1
    ),
    "string_to_hash_bucket": _text(TextBox(add_batch_rank=True)),
    "string_to_hash_bucket_nested": _text(
        Dict(a=TextBox(), b={"c": TextBox()}, add_batch_rank=True), delimiter="", hash_function="strong"
    ),
}
