"""Cases of networks of several inputs, and of networks that are more than layers one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlgraph.components import (
    Concat,
    Dense,
    InstructionEncoder,
    LargeIMPALANetwork,
    MultiInputStreamNeuralNetwork,
    NeuralNetwork,
    Reshape,
    SACValueNetwork,
    SmallIMPALANetwork,
    VariationalAutoEncoder,
)
from rlgraph.core import Component, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, Space, TextBox, Tuple
from rlgraph.testing.conformance.cases.case import FEATURES, Case
from rlgraph.testing.conformance.gradients import LAYERS

TWO = Tuple(FEATURES, FloatBox(shape=(2,), add_batch_rank=True))
TANH = [{"type": "dense", "units": 3, "activation": "tanh"}]
SEQUENCES = FloatBox(shape=(3,), add_batch_rank=True, add_time_rank=True)
IMAGES = FloatBox(shape=(4, 5, 2), add_batch_rank=True)


def _streams() -> Component:
    """Two streams of one layer, and two outputs."""
    shared = Dense(4, "tanh", scope="shared")
    both = Concat()(shared(FEATURES), shared(TWO[0]), TWO[1])
    return NeuralNetwork(
        inputs={"a": FEATURES, "b": TWO}, outputs={"logits": Dense(3)(both), "value": Dense(1)(both)}
    )


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


def _impala(kind: Callable[..., Component], size: int, elements: int | None = None) -> Case:
    """Sequences of everything; derivatives by some elements of all variables."""
    space = Dict(
        image=IntBox(256, shape=(size, size, 1), dtype="uint8"),
        previous_action=Dict(move=IntBox(3), turn=FloatBox(shape=(2,))),
        previous_reward=FloatBox(),
        text=TextBox(),
    )
    return Case(
        lambda: kind(units=2, image_units=3, text_key="text"),
        {"inputs": space.with_extra_ranks(True, True, True)},
        ("call", "call_with_states"),
        elements=elements,
    )


FLATTEN = {"type": "reshape", "flatten": True}

CASES: dict[str, Case] = {
    "network_of_one_input": Case(
        lambda: NeuralNetwork(outputs=Dense(2)(Dense(4, "tanh")(FEATURES))),
        {"inputs": FEATURES},
        ("call",),
        by=("inputs",),
    ),
    "network_of_streams": Case(_streams, {"inputs": Dict(a=FEATURES, b=TWO)}, ("call",), by=("inputs",)),
    "network_of_numbers": Case(
        _mixed, {"inputs": Tuple(IntBox(4), FEATURES, add_batch_rank=True)}, ("call",)
    ),
    "instruction_encoder": Case(
        lambda: InstructionEncoder(7, 3, 2), {"texts": TextBox(add_batch_rank=True)}, ("call",)
    ),
    "instruction_encoder_time": Case(
        lambda: InstructionEncoder(7, 3, 2),
        {"texts": TextBox(add_batch_rank=True, add_time_rank=True)},
        ("call",),
    ),
    "large_impala_network": _impala(LargeIMPALANetwork, 8),
    "small_impala_network": _impala(SmallIMPALANetwork, 20, elements=3),
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
        FloatBox(-1.0, 1.0, shape=(2,), add_batch_rank=True, add_time_rank=True),
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
