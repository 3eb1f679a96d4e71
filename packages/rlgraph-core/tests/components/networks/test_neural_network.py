import copy
import json

import numpy as np
import pytest

from rlgraph.components import Dense, NeuralNetwork
from rlgraph.core import AssemblyError, SpecError
from rlgraph.spaces import Dict, FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest

INPUTS = {"inputs": FloatBox(shape=(3,), add_batch_rank=True)}
LAYERS = [{"type": "dense", "units": 5, "activation": "relu"}, {"type": "dense", "units": 2, "scope": "last"}]


@pytest.mark.parametrize("batch", [1, 4])
def test_layers_one_after_the_other(batch, backend):
    test = ComponentTest(NeuralNetwork(LAYERS), INPUTS, backend=backend)
    values = test.read_variable_values()
    assert sorted(values) == ["dense-0/biases", "dense-0/weights", "last/biases", "last/weights"]
    x = np.random.default_rng(0).normal(size=(batch, 3)).astype(np.float32)
    hidden = np.maximum(x @ values["dense-0/weights"] + values["dense-0/biases"], 0.0)
    test.test(
        ("call", [x]), expected_outputs=hidden @ values["last/weights"] + values["last/biases"], decimals=5
    )


def test_the_specs_stay_as_they_are():
    layers = copy.deepcopy(LAYERS)
    NeuralNetwork(layers)
    assert layers == LAYERS


def test_ways_to_describe_layers():
    network = NeuralNetwork(
        [Dense(2, scope="mine"), {"type": Dense, "units": 3}, {"type": "Dense", "units": 4}]
    )
    assert [layer.units for layer in network.layers] == [2, 3, 4]
    scopes = [layer.scope for layer in network.layers]
    assert scopes[0] == "mine"
    assert len(set(scopes)) == 3
    assert all(scope.replace("-", "").replace("_", "").isalnum() for scope in scopes)


def test_ways_to_describe_a_network():
    network = NeuralNetwork(LAYERS)
    assert NeuralNetwork.from_spec(network, path="path") is network
    assert [layer.units for layer in NeuralNetwork.from_spec(LAYERS, scope="n").layers] == [5, 2]
    assert NeuralNetwork.from_spec({"layers": LAYERS, "scope": "other"}).scope == "other"
    with pytest.raises(
        SpecError, match="agent.network_spec.layer: NeuralNetwork has no such key. Did you mean 'layers'?"
    ):
        NeuralNetwork.from_spec({"layer": LAYERS}, path="agent.network_spec")
    with pytest.raises(
        SpecError, match=r"^agent.network_spec\[1\].unts: Dense has no such key. Did you mean 'units'\?"
    ):
        NeuralNetwork.from_spec([LAYERS[0], {"type": "dense", "unts": 3}], path="agent.network_spec")
    with pytest.raises(
        SpecError, match="'dense' is a Dense, expected a NeuralNetwork; write layers as a list"
    ):
        NeuralNetwork.from_spec(LAYERS[0], path="agent.network_spec")


def test_a_network_in_a_file(tmp_path):
    file = tmp_path / "net.json"
    file.write_text(json.dumps(LAYERS))
    assert [layer.units for layer in NeuralNetwork.from_spec(str(file)).layers] == [5, 2]
    assert [layer.units for layer in NeuralNetwork.from_spec(file).layers] == [5, 2]
    file.write_text(json.dumps([{"type": "dense", "units": 0}]))
    with pytest.raises(SpecError, match=r"^net\[0\].units: expected an integer >= 1, given 0"):
        NeuralNetwork.from_spec(file, path="net")


@pytest.mark.parametrize("layers", [[], "dense", None, {"type": "dense"}])
def test_wrong_layers(layers):
    with pytest.raises(SpecError, match="network.layers: expected a list of layer specs"):
        NeuralNetwork(layers)


def test_two_layers_in_one_scope():
    with pytest.raises(AssemblyError, match="two sub-components have the scope 'dense'"):
        NeuralNetwork([Dense(2), Dense(3)])


def test_a_frozen_network(backend):
    test = ComponentTest(NeuralNetwork(LAYERS, trainable=False), INPUTS, backend=backend)
    assert test.executor.get_weights(trainable_only=True) == {}


IMAGES = IntBox(256, shape=(8, 8, 3), dtype="uint8", add_batch_rank=True)


def test_a_network_that_preprocesses_bytes(backend):
    layers = [
        {"type": "divide", "divisor": 255},
        {"type": "conv2d", "filters": 2, "kernel_size": 8, "weights_spec": 0.5},
        {"type": "reshape", "flatten": True},
        {"type": "dense", "units": 1, "weights_spec": 1.0},
    ]
    test = ComponentTest(NeuralNetwork(layers), {"inputs": IMAGES}, backend=backend)
    test.test(
        "call",
        np.full((1, 8, 8, 3), 51, np.uint8),
        expected_outputs=[[8 * 8 * 3 * 0.2 * 0.5 * 2]],
        decimals=3,
    )


def test_a_network_for_a_container(backend):
    states = Dict(goal=IntBox(3), speed=FloatBox(shape=(2,)), add_batch_rank=True)
    layers = [
        {"type": "reshape", "flatten": True},
        {"type": "concat"},
        {"type": "dense", "units": 1, "weights_spec": 1.0},
    ]
    test = ComponentTest(NeuralNetwork(layers), {"inputs": states}, backend=backend)
    test.test("call", {"goal": [2], "speed": [[0.25, 0.5]]}, expected_outputs=[[1.75]])


@pytest.mark.parametrize(
    ("space", "layers"),
    [
        (
            Dict(a=FloatBox(shape=(2,)), add_batch_rank=True),
            '{"type": "reshape", "flatten": true}, {"type": "concat"}',
        ),
        (IntBox(16, add_batch_rank=True), '{"type": "reshape", "flatten": true, "flatten_categories": true}'),
        (
            IMAGES,
            '{"type": "convert_type", "to_dtype": "float"}, {"type": "reshape", "flatten": true}',
        ),
        (FloatBox(shape=(2, 2), add_batch_rank=True), '{"type": "reshape", "flatten": true}'),
    ],
)
def test_what_a_network_cannot_take_names_the_layer_that_converts_it(space, layers):
    with pytest.raises(SpaceError) as error:
        ComponentTest(NeuralNetwork(LAYERS), {"inputs": space}, backend="numpy")
    assert f"; put in front, or into preprocessing_spec: {layers}" in str(error.value)
    # What it says helps.
    ComponentTest(NeuralNetwork([*json.loads(f"[{layers}]"), *LAYERS]), {"inputs": space}, backend="numpy")


def test_no_layer_of_a_network_has_state():
    with pytest.raises(SpecError, match="network.layers: sequence-0 keeps frames or statistics"):
        NeuralNetwork([{"type": "sequence"}])


def test_a_number_is_a_dense_layer():
    short = ComponentTest(NeuralNetwork([3, {"type": "gru", "units": 2}, 4]), INPUTS, backend="numpy")
    layers = [
        {"type": "dense", "units": 3, "activation": "relu"},
        {"type": "gru", "units": 2},
        {"type": "dense", "units": 4, "activation": "relu"},
    ]
    long = ComponentTest(NeuralNetwork(layers), INPUTS, backend="numpy")
    for network in (short, long):
        assert [layer.scope for layer in network.component.layers] == ["dense-0", "gru-1", "dense-2"]
    weights = long.executor.get_weights()
    assert weights["dense-0/weights"].shape == (3, 3)
    np.testing.assert_equal(short.executor.get_weights(), weights)
    assert [layer.activation for layer in short.component.layers[::2]] == ["relu", "relu"]


@pytest.mark.parametrize("units", [0, -3, True, 2.5])
def test_a_number_that_is_no_number_of_units(units):
    with pytest.raises(SpecError, match=rf"net\[1\]: expected a layer spec, or the units .* given {units!r}"):
        NeuralNetwork.from_spec([64, units], path="net")


def test_a_layer_without_a_type():
    with pytest.raises(SpecError, match=r"net\[1\].type: missing; a layer is a mapping with 'type', given"):
        NeuralNetwork.from_spec([LAYERS[0], {"units": 4}], path="net")
    with pytest.raises(SpecError, match=r"network.layers\[0\].type: missing"):
        NeuralNetwork([{"units": 4}])
