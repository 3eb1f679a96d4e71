import math
from functools import partial

import numpy as np
import pytest
from scipy import special

from rlgraph.components import (
    SGD,
    Activation,
    Conv2D,
    Conv2DTranspose,
    Dense,
    DuelingPolicy,
    NeuralNetwork,
    NoisyDense,
    Residual,
    ValueFunction,
)
from rlgraph.core import Component, RLGraphError, SpecError, graph_fn, rlgraph_api
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


# Functions.


def mish(ops, x):
    """Misra (2019), https://arxiv.org/abs/1908.08681."""
    return x * ops.tanh(ops.softplus(x))


def mish_by_definition(x):
    return np.vectorize(lambda v: v * math.tanh(math.log(1.0 + math.exp(v))))(np.asarray(x, np.float64))


WEIGHTS = np.float32([[1.0, -1.0], [0.5, 2.0], [0.0, 1.0]])
OF_LINEAR = mish_by_definition(X @ WEIGHTS)


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        (Activation(mish), mish_by_definition(X)),
        (Dense(2, mish, WEIGHTS), OF_LINEAR),
        (Dense.from_spec({"units": 2, "activation": mish, "weights_spec": WEIGHTS}), OF_LINEAR),
        (Dense(2, partial(lambda ops, x, slope: slope * x, slope=3.0), WEIGHTS), 3.0 * X @ WEIGHTS),
        (Residual({"type": "activation"}, activation=mish), mish_by_definition(2 * X)),
    ],
)
def test_functions(layer, expected, backend):
    test = ComponentTest(layer.copy(), {"inputs": FloatBox(shape=(3,), add_batch_rank=True)}, backend=backend)
    test.test("call", X, expected_outputs=expected, decimals=5)


def test_functions_of_noisy_layers(backend):
    layer = NoisyDense(2, mish, sigma=0.0)
    test = ComponentTest(layer, {"inputs": FloatBox(shape=(3,), add_batch_rank=True)}, backend=backend)
    w = test.read_variable_values()
    linear = X @ w["noisy-dense/weights"] + w["noisy-dense/biases"]
    test.test("call", X, expected_outputs=mish_by_definition(linear), decimals=5)


@pytest.mark.parametrize("layer", [Conv2D, Conv2DTranspose])
def test_functions_of_convolutions(layer, backend):
    space = FloatBox(shape=(2, 2, 1), add_batch_rank=True)
    x = np.float32([[[[1.0], [-2.0]], [[0.0], [3.0]]]])
    test = ComponentTest(layer(1, 1, activation=mish, weights_spec=2.0), {"inputs": space}, backend=backend)
    test.test("call", x, expected_outputs=mish_by_definition(2.0 * x), decimals=5)


def test_functions_of_policies_and_value_functions(backend):
    """Also where a layer is inside: the last one of a value function, the hidden ones of dueling streams."""
    space = FloatBox(shape=(3,), add_batch_rank=True)
    value = ValueFunction([{"type": "activation"}], weights_spec=WEIGHTS[:, 1:], activation=mish)
    test = ComponentTest(value, {"observations": space}, backend=backend)
    test.test("value_output", X, expected_outputs=OF_LINEAR[:, 1], decimals=5)
    dueling = ComponentTest(
        DuelingPolicy([{"type": "activation"}], IntBox(2), 4, activation=mish),
        {"observations": space},
        backend=backend,
    )
    w = dueling.read_variable_values()
    v, a = (
        mish_by_definition(X @ w[f"{stream}-hidden/weights"]) @ w[f"{stream}/weights"]
        for stream in ("value", "advantages")
    )
    expected = v + a - a.mean(axis=-1, keepdims=True)
    dueling.test("get_q_values", X, which="q_values", expected_outputs=expected, decimals=5)


class Fitting(Component):
    def __init__(self, **kwargs):
        self.layer = Dense(1, mish, weights_spec=[[0.5]], biases_spec=False)
        self.optimizer = SGD(learning_rate=1.0)
        super().__init__(self.layer, self.optimizer, scope="fitting", **kwargs)

    @rlgraph_api
    def update(self, x):
        self.optimizer.step(self.layer.variables(), self._total(self.layer.call(x)))

    @graph_fn
    def _total(self, ops, outputs):
        return ops.sum(outputs)


def test_the_derivative_of_a_function(trainer):
    """By central differences of the definition: the step is ``-x mish'(0.5 x)``."""
    x, h = 1.5, 1e-5
    slope = x * float(mish_by_definition(0.5 * x + h) - mish_by_definition(0.5 * x - h)) / (2 * h)
    test = ComponentTest(Fitting(), {"x": FloatBox(shape=(1,), add_batch_rank=True)}, backend=trainer)
    test.test("update", np.float32([[x]]))
    test.variable_test({"dense/weights": [[0.5 - slope]]}, decimals=5)


@pytest.mark.parametrize(
    "wrong",
    [lambda x: x, lambda ops, x, slope: x, lambda *values: values[0], max, np.maximum, np.exp, math.tanh],
)
def test_functions_of_other_arguments(wrong):
    with pytest.raises(SpecError, match="dense.activation: expected the name of .* function of ops and x"):
        Dense(4, wrong)
    with pytest.raises(
        SpecError, match=r"NeuralNetwork\[0\]\.activation: expected the name of .* a function of ops"
    ):
        NeuralNetwork.from_spec([{"type": "dense", "units": 4, "activation": wrong}])


def test_other_values():
    for wrong in (3, ["relu"], {"type": "relu"}):
        with pytest.raises(SpecError, match="dense.activation: unknown activation"):
            Dense(4, wrong)
        with pytest.raises(SpecError, match="activation: expected a text or a function or null, given"):
            NeuralNetwork.from_spec([{"type": "dense", "units": 4, "activation": wrong}])


def test_a_function_that_leaves_the_graph(backend):
    """It is given the backend's tensors, and Spaces at the build: the error names the layer."""
    layer = Dense(4, lambda ops, x: np.tanh(x))
    with pytest.raises(RLGraphError, match="dense"):
        ComponentTest(layer, {"inputs": FloatBox(shape=(3,), add_batch_rank=True)}, backend=backend)


def test_numpys_function_is_the_name():
    assert Dense(4, np.tanh).activation == "tanh"
