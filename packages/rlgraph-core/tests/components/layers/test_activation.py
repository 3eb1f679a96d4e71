import math

import numpy as np
import pytest
from scipy import special

from rlgraph.components import Activation, Conv2D, NeuralNetwork
from rlgraph.core import Component, SpecError
from rlgraph.core.functional.activations import ACTIVATIONS
from rlgraph.spaces import FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest

X = np.float32([[-3.0, -0.5, 0.0], [0.25, 1.0, 4.0]])

#: The definitions, one number at a time; those along an axis below.
SINGLE = {
    "elu": lambda v: v if v > 0 else math.exp(v) - 1.0,
    "gelu": lambda v: 0.5 * v * (1.0 + math.erf(v / math.sqrt(2.0))),
    "leaky_relu": lambda v: v if v > 0 else 0.2 * v,
    "linear": lambda v: v,
    "log_sigmoid": lambda v: math.log(1.0 / (1.0 + math.exp(-v))),
    "lrelu": lambda v: v if v > 0 else 0.2 * v,
    "relu": lambda v: max(v, 0.0),
    "selu": lambda v: 1.0507009873554805 * (v if v > 0 else 1.6732632423543772 * (math.exp(v) - 1.0)),
    "sigmoid": lambda v: 1.0 / (1.0 + math.exp(-v)),
    "silu": lambda v: v / (1.0 + math.exp(-v)),
    "softplus": lambda v: math.log(1.0 + math.exp(v)),
    "softsign": lambda v: v / (1.0 + abs(v)),
    "swish": lambda v: v / (1.0 + math.exp(-v)),
    "tanh": math.tanh,
}
ALONG_AN_AXIS = {
    "crelu": lambda x: np.concatenate([np.maximum(x, 0.0), np.maximum(-x, 0.0)], axis=-1),
    "softmax": lambda x: special.softmax(x, axis=-1),
}


def by_definition(name, x):
    if name in ALONG_AN_AXIS:
        return ALONG_AN_AXIS[name](x)
    return np.vectorize(SINGLE[name])(np.asarray(x, np.float64))


def test_all_have_a_definition_here():
    assert {*SINGLE, *ALONG_AN_AXIS} == {*ACTIVATIONS, "linear"}


@pytest.mark.parametrize("name", [*SINGLE, *ALONG_AN_AXIS])
def test_definitions(name, backend):
    test = ComponentTest(
        Activation(name), {"inputs": FloatBox(shape=(3,), add_batch_rank=True)}, backend=backend
    )
    test.test("call", X, expected_outputs=by_definition(name, X), decimals=5)


@pytest.mark.parametrize("name", ["crelu", "softmax", "lrelu"])
@pytest.mark.parametrize("time_major", [True, False])
def test_the_last_axis_of_sequences(name, time_major, backend):
    space = FloatBox(shape=(2, 3), add_batch_rank=True, add_time_rank=True, time_major=time_major)
    x = np.random.default_rng(0).normal(size=(4, 5, 2, 3)).astype(np.float32)
    ComponentTest(Activation(name), {"inputs": space}, backend=backend).test(
        "call", x, expected_outputs=by_definition(name, x), decimals=5
    )


@pytest.mark.parametrize("name", ["crelu", "swish", "softmax"])
def test_channels_of_a_convolution(name, backend):
    """Of crelu there are twice as many, and the next layer knows it."""
    weights = np.random.default_rng(1).normal(size=(1, 1, 2, 3)).astype(np.float32)
    network = NeuralNetwork(
        [Conv2D(3, 1, activation=name, weights_spec=weights), Conv2D(1, 1, weights_spec=1.0, scope="sum")]
    )
    x = np.random.default_rng(0).normal(size=(2, 4, 4, 2)).astype(np.float32)
    test = ComponentTest(network, {"inputs": FloatBox(shape=(4, 4, 2), add_batch_rank=True)}, backend=backend)
    expected = by_definition(name, x @ weights[0, 0]).sum(-1, keepdims=True)
    test.test("call", x, expected_outputs=expected, decimals=4)


def test_the_name_it_had():
    layer = Component.from_spec({"type": "nn_layer", "activation": "tanh"})
    assert (type(layer), layer.activation) == (Activation, "tanh")


def test_mistakes():
    with pytest.raises(
        SpecError, match="activation.activation: unknown activation 'sofmax'. Did you mean 'softmax'"
    ):
        Activation("sofmax")
    for space, message in (
        (
            FloatBox(add_batch_rank=True),
            "activation/inputs: expected a FloatBox of rank 1 or more with batch rank",
        ),
        (
            IntBox(256, shape=(2,), dtype="uint8", add_batch_rank=True),
            '{"type": "convert_type", "to_dtype": "float"}',
        ),
        (FloatBox(shape=(2,)), "give the Space add_batch_rank=True"),
    ):
        with pytest.raises(SpaceError) as error:
            ComponentTest(Activation("relu"), {"inputs": space}, backend="numpy")
        assert message in str(error.value)
