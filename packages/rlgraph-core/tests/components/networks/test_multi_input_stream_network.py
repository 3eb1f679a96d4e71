"""A network for each part of the input."""

import numpy as np
import pytest

from rlgraph.components import MultiInputStreamNeuralNetwork, NeuralNetwork, Policy
from rlgraph.core import Component, SpecError
from rlgraph.spaces import Dict, FloatBox, IntBox, SpaceError, Tuple
from rlgraph.testing import ComponentTest

RNG = np.random.default_rng(0)
STATES = Dict(goal=IntBox(3), speed=FloatBox(shape=(2,)), where=FloatBox(shape=(2,)), add_batch_rank=True)
ONE_HOT = {"type": "reshape", "flatten": True}
SPECS = {
    "speed": [{"type": "dense", "units": 4, "activation": "relu"}],
    "goal": [ONE_HOT, {"type": "dense", "units": 2}],
    "where": None,
}
POST = [{"type": "dense", "units": 3, "activation": "tanh"}]
GIVEN = {
    "goal": np.array([2, 0]),
    "speed": RNG.standard_normal((2, 2)).astype("float32"),
    "where": RNG.standard_normal((2, 2)).astype("float32"),
}


def dense(x, values, scope):
    return x @ values[f"{scope}/weights"] + values[f"{scope}/biases"]


def streams(values):
    goal = dense(np.eye(3, dtype="float32")[GIVEN["goal"]], values, "input-goal/dense-1")
    speed = np.maximum(dense(GIVEN["speed"], values, "input-speed/dense-0"), 0.0)
    return np.concatenate([goal, speed, GIVEN["where"]], axis=-1)


@pytest.mark.parametrize("post", [None, POST])
def test_a_dict(post, backend):
    test = ComponentTest(MultiInputStreamNeuralNetwork(SPECS, post), {"inputs": STATES}, backend=backend)
    values = test.read_variable_values()
    expected = streams(values)
    if post:
        expected = np.tanh(dense(expected, values, "post-network/dense-0"))
    test.test(("call", [GIVEN]), expected_outputs=expected, decimals=5)


def test_a_tuple_from_a_spec(backend):
    spec = {
        "type": "multi_input_stream_network",
        "input_network_specs": [[ONE_HOT, {"type": "dense", "units": 2}], None],
        "post_network_spec": {"layers": POST},
    }
    network = Component.from_spec(spec)
    space = Tuple(IntBox(3), FloatBox(shape=(2,)), add_batch_rank=True)
    test = ComponentTest(network, {"inputs": space}, backend=backend)
    values = test.read_variable_values()
    first = dense(np.eye(3, dtype="float32")[GIVEN["goal"]], values, "input-0/dense-1")
    both = np.concatenate([first, GIVEN["speed"]], axis=-1)
    expected = np.tanh(dense(both, values, "post-network/dense-0"))
    test.test(("call", [(GIVEN["goal"], GIVEN["speed"])]), expected_outputs=expected, decimals=5)


def test_one_network_for_two_parts():
    shared = NeuralNetwork([{"type": "dense", "units": 4}], scope="shared")
    network = MultiInputStreamNeuralNetwork({"speed": shared, "where": shared})
    test = ComponentTest(
        network, {"inputs": Dict(speed=STATES["speed"], where=STATES["where"])}, backend="numpy"
    )
    assert sorted(test.read_variable_values()) == ["shared/dense-0/biases", "shared/dense-0/weights"]


def test_as_the_network_of_a_policy():
    spec = {"type": "multi_input_stream_network", "input_network_specs": SPECS}
    policy = Policy(spec, IntBox(4))
    spaces = {"observations": STATES, "actions": IntBox(4, add_batch_rank=True)}
    test = ComponentTest(policy, spaces, backend="numpy")
    assert test.test(("get_action", [GIVEN]))["action"].shape == (2,)


@pytest.mark.parametrize("specs", [{}, [], "dense", None])
def test_no_parts(specs):
    with pytest.raises(
        SpecError, match="input_network_specs: expected a network for each part of a Dict or Tuple"
    ):
        MultiInputStreamNeuralNetwork(specs)


def test_a_wrong_spec_is_named_by_its_part():
    spec = {
        "type": "multi_input_stream_network",
        "input_network_specs": {"speed": [{"type": "dense", "unts": 4}]},
    }
    with pytest.raises(SpecError, match=r"^net.input_network_specs.speed\[0\].unts: Dense has no such key"):
        Component.from_spec(spec, path="net")
    with pytest.raises(SpecError, match="expected a list of layer specs, given \\[\\]"):
        MultiInputStreamNeuralNetwork({"speed": []})


@pytest.mark.parametrize("specs", [{"speed": None, "goal": [ONE_HOT]}, {**SPECS, "more": None}, [None, None]])
def test_other_parts(specs):
    with pytest.raises(SpaceError, match=r"inputs: expected a (Dict|Tuple) with the parts .*speed|0, 1"):
        ComponentTest(MultiInputStreamNeuralNetwork(specs), {"inputs": STATES}, backend="numpy")


def test_streams_that_do_not_fit_together():
    with pytest.raises(
        SpaceError, match="joined: expected floats with at least one axis, given IntBox.* at 'goal'"
    ):
        ComponentTest(
            MultiInputStreamNeuralNetwork({**SPECS, "goal": None}), {"inputs": STATES}, backend="numpy"
        )
