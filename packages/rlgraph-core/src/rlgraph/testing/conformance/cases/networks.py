"""Cases of networks of several inputs, and of networks that are more than layers one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlgraph.components import (
    Concat,
    Dense,
    MultiInputStreamNeuralNetwork,
    NeuralNetwork,
    Reshape,
    SACValueNetwork,
    VariationalAutoEncoder,
)
from rlgraph.core import Component, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Space, Tuple
from rlgraph.testing.conformance.cases.case import FEATURES, Case
from rlgraph.testing.conformance.gradients import LAYERS

#: Something to differentiate by beside a number.
PAIR = Dict(a=FEATURES, b=Tuple(FEATURES, FloatBox(shape=(2,), add_batch_rank=True)))
TANH = [{"type": "dense", "units": 3, "activation": "tanh"}]
SEQUENCES = FloatBox(shape=(3,), add_batch_rank=True, add_time_rank=True)
IMAGES = FloatBox(shape=(4, 5, 2), add_batch_rank=True)


def _streams() -> Component:
    """Two streams of one layer, and two outputs."""
    a, b = PAIR["a"], PAIR["b"]
    shared = Dense(4, "tanh", scope="shared")
    both = Concat()(shared(a), shared(b[0]), b[1])
    return NeuralNetwork(inputs=PAIR, outputs={"logits": Dense(3)(both), "value": Dense(1)(both)})


def _mixed() -> Component:
    number, features = IntBox(4, add_batch_rank=True), FEATURES
    one_hot = Reshape(flatten=True)(number)
    return NeuralNetwork(
        inputs=[number, features], outputs=[one_hot, Dense(2)(Concat()(one_hot, Dense(3)(features)))]
    )


class Decoded(Component):
    """An auto-encoder whose codes are the means."""

    def __init__(self, model: VariationalAutoEncoder):
        self.model = model
        super().__init__(model, scope="decoded")

    @rlgraph_api
    def call(self, inputs: Any) -> Any:
        return self.model.call(inputs, True), self.model.get_elbo(inputs, True)


def _auto_encoder(space: FloatBox, decoder: list[Any], encoder: list[Any] = TANH, **options: Any) -> Case:
    return Case(
        lambda: Decoded(VariationalAutoEncoder(2, encoder, decoder, **options)),
        {"inputs": space},
        ("call",),
        by=("inputs",),
    )


def _values(
    make: Callable[[], Component], actions: Space, states: Space = FEATURES, by: tuple[str, ...] = ()
) -> Case:
    return Case(
        make,
        {"states": states, "actions": actions.with_batch_rank()},
        ("state_action_value",),
        by=("states", *by),
    )


FLATTEN = {"type": "reshape", "flatten": True}

CASES: dict[str, Case] = {
    "network_of_one_input": Case(
        lambda: NeuralNetwork(outputs=Dense(2)(Dense(4, "tanh")(FEATURES))),
        {"inputs": FEATURES},
        ("call",),
        by=("inputs",),
    ),
    "network_of_streams": Case(_streams, {"inputs": PAIR}, ("call",), by=("inputs",)),
    "network_of_numbers": Case(
        _mixed, {"inputs": Tuple(IntBox(4), FEATURES, add_batch_rank=True)}, ("call",)
    ),
    "multi_input_stream_network": Case(
        lambda: MultiInputStreamNeuralNetwork({"a": LAYERS, "b": None}, LAYERS),
        {"inputs": Dict(a=FEATURES, b=FEATURES)},
        ("call",),
        by=("inputs",),
    ),
    "multi_input_stream_network_time": Case(
        lambda: MultiInputStreamNeuralNetwork([TANH, None]),
        {"inputs": Tuple(SEQUENCES, SEQUENCES)},
        ("call",),
        by=("inputs",),
    ),
    "sac_value_network": _values(
        lambda: SACValueNetwork(TANH), FloatBox(-1.0, 1.0, shape=(2,)), by=("actions",)
    ),
    "sac_value_network_images": _values(
        lambda: SACValueNetwork(TANH, [{"type": "conv2d", "filters": 2, "kernel_size": 3}, FLATTEN]),
        IntBox(4),
        IMAGES,
    ),
    "sac_value_network_parts": _values(
        lambda: SACValueNetwork(TANH, biases_spec=False),
        Dict(jump=BoolBox(), move=Tuple(IntBox(3), FloatBox(shape=(2,)))),
    ),
    "sac_value_network_time": _values(
        lambda: SACValueNetwork(TANH),
        FloatBox(-1.0, 1.0, shape=(2,), add_time_rank=True),
        SEQUENCES,
        by=("actions",),
    ),
    "variational_auto_encoder": _auto_encoder(FEATURES, [{"type": "dense", "units": 3}], stddev=0.5),
    "variational_auto_encoder_bernoulli": _auto_encoder(
        FloatBox(0.0, 1.0, shape=(2, 3), add_batch_rank=True),
        [{"type": "dense", "units": 6}, {"type": "reshape", "new_shape": [2, 3]}],
        [FLATTEN, *TANH],
        likelihood="bernoulli",
        beta=2.0,
    ),
    "variational_auto_encoder_time": _auto_encoder(SEQUENCES, [{"type": "dense", "units": 3}]),
}
