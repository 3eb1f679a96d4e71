import math

import numpy as np
import pytest

from rlgraph.components import Dense
from rlgraph.core import SpecError
from rlgraph.spaces import Dict, FloatBox, IntBox, SpaceError, TextBox
from rlgraph.testing import ComponentTest

INPUTS = {"inputs": FloatBox(shape=(3,), add_batch_rank=True)}

ACTIVATIONS = {
    None: lambda v: v,
    "linear": lambda v: v,
    "relu": lambda v: max(v, 0.0),
    "tanh": math.tanh,
    "sigmoid": lambda v: 1.0 / (1.0 + math.exp(-v)),
    "swish": lambda v: v / (1.0 + math.exp(-v)),
    "elu": lambda v: v if v > 0 else math.exp(v) - 1.0,
    "softplus": lambda v: math.log(1.0 + math.exp(v)),
}


def by_hand(x, weights, biases, activation=None):
    result = np.empty((len(x), weights.shape[1]))
    for b in range(len(x)):
        for j in range(weights.shape[1]):
            total = biases[j] if biases is not None else 0.0
            for i in range(weights.shape[0]):
                total += float(x[b, i]) * float(weights[i, j])
            result[b, j] = ACTIVATIONS[activation](total)
    return result


def test_given_numbers(backend):
    layer = Dense(2, weights_spec=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], biases_spec=[0.5, -0.5])
    test = ComponentTest(layer, INPUTS, backend=backend)
    test.test(("call", [[[1.0, 0.0, -1.0], [0.0, 2.0, 0.0]]]), expected_outputs=[[-3.5, -4.5], [6.5, 7.5]])


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations(activation, backend):
    test = ComponentTest(Dense(4, activation, biases_spec=0.1), INPUTS, backend=backend)
    values = test.read_variable_values()
    x = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32) * 2.0
    expected = by_hand(x, values["dense/weights"], values["dense/biases"], activation)
    test.test(("call", [x]), expected_outputs=expected, decimals=5)


@pytest.mark.parametrize("use_kernels", [True, False])
@pytest.mark.parametrize(
    ("time_major", "activation", "biases"),
    [(False, None, 0.1), (True, "relu", 0.1), (False, "swish", False), (True, None, False)],
)
def test_sequences(time_major, activation, biases, use_kernels, backend):
    space = FloatBox(shape=(3,), add_batch_rank=True, add_time_rank=True, time_major=time_major)
    test = ComponentTest(
        Dense(4, activation, biases_spec=biases),
        {"inputs": space},
        backend=backend,
        execution_spec={"use_kernels": use_kernels},
    )
    values = test.read_variable_values()
    x = np.random.default_rng(0).normal(size=(2, 5, 3)).astype(np.float32)
    expected = [by_hand(rows, values["dense/weights"], values.get("dense/biases"), activation) for rows in x]
    test.test("call", x, expected_outputs=expected, decimals=5)
    assert test.test("call", x[:, :0]).shape == (2, 0, 4)


def test_twice_as_many_outputs(backend):
    layer = Dense(2, "crelu", weights_spec=[[1.0, -2.0], [0.0, 0.0], [0.0, 0.0]])
    test = ComponentTest(layer, INPUTS, backend=backend)
    test.test("call", [[1.0, 0.0, 0.0]], expected_outputs=[[1.0, 0.0, 0.0, 2.0]])


@pytest.mark.parametrize("batch", [1, 7])
def test_without_biases(batch, backend):
    test = ComponentTest(Dense(4, biases_spec=False, scope="d"), INPUTS, backend=backend)
    assert list(test.read_variable_values()) == ["d/weights"]
    x = np.random.default_rng(0).normal(size=(batch, 3)).astype(np.float32)
    test.test(
        ("call", [x]), expected_outputs=by_hand(x, test.read_variable_values()["d/weights"], None), decimals=5
    )


def test_starting_values(backend):
    test = ComponentTest(Dense(200), {"inputs": FloatBox(shape=(100,), add_batch_rank=True)}, backend=backend)
    values = test.read_variable_values()
    assert not values["dense/biases"].any()
    limit = math.sqrt(6.0 / 300.0)  # Glorot and Bengio (2010), eq. 16
    assert 0.98 * limit < np.abs(values["dense/weights"]).max() <= limit * (1 + 1e-6)


def test_units_that_numpy_counted():
    units = Dense(np.prod((3, 4))).units
    assert (units, type(units)) == (12, int)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"units": 0}, "dense.units: expected an integer >= 1, given 0"),
        ({"units": 2.0}, "dense.units: expected an integer >= 1, given 2.0"),
        ({"units": True}, "dense.units"),
        (
            {"units": 2, "activation": "rleu"},
            "dense.activation: unknown activation 'rleu'. Did you mean 'relu'?",
        ),
        ({"units": 2, "activation": 3, "scope": "d"}, "d.activation: unknown activation 3"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(SpecError) as error:
        Dense(**arguments)
    assert message in str(error.value)


FLAT, CATEGORIES = '{"type": "reshape", "flatten": true}', '"flatten_categories": true}'


@pytest.mark.parametrize(
    ("space", "hint"),
    [
        (FloatBox(add_batch_rank=True), FLAT),
        (FloatBox(shape=(2, 2), add_batch_rank=True), FLAT),
        (FloatBox(shape=(2,)), "give the Space add_batch_rank=True"),
        (FloatBox(shape=(2,), add_time_rank=True), "give the Space add_batch_rank=True"),
        (IntBox(3, shape=(2,), add_batch_rank=True), CATEGORIES),
        (IntBox(9, shape=(2,), dtype="uint8", add_batch_rank=True), '"to_dtype": "float"}'),
        (Dict(a=float, add_batch_rank=True), f'{FLAT}, {{"type": "concat"}}'),
        (TextBox(add_batch_rank=True), "put a string_to_hash_bucket and an embedding_lookup in front"),
    ],
)
def test_wrong_inputs(space, hint):
    with pytest.raises(SpaceError) as error:
        ComponentTest(Dense(2), {"inputs": space}, backend="numpy")
    message = str(error.value)
    assert message.startswith("dense/inputs: expected a FloatBox of rank 1 with batch rank, given ")
    assert repr(space) in message and message.endswith(hint)


@pytest.mark.parametrize("scope", ["d", "expected", "dense"])
def test_wrong_inputs_name_the_layer_whatever_it_is_called(scope):
    with pytest.raises(SpaceError, match=f"^{scope}/inputs: expected a FloatBox"):
        ComponentTest(Dense(2, scope=scope), {"inputs": IntBox(3, add_batch_rank=True)}, backend="numpy")
