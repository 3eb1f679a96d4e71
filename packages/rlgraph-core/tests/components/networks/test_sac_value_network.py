"""Values of states and actions."""

import numpy as np
import pytest

from rlgraph.components import SACValueNetwork
from rlgraph.core import SpecError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, Tuple
from rlgraph.testing import ComponentTest

RNG = np.random.default_rng(0)
LAYERS = [{"type": "dense", "units": 5, "activation": "relu"}]
STATES = FloatBox(shape=(3,), add_batch_rank=True)


def dense(x, values, scope):
    return x @ values[f"{scope}/weights"] + values[f"{scope}/biases"]


def check(test, states, actions, features):
    """`features`: what stands in front of the network, made by hand."""
    values = test.read_variable_values()
    hidden = np.maximum(dense(features, values, "network/dense-0"), 0.0)
    test.test(
        ("state_action_value", [states, actions]),
        expected_outputs=dense(hidden, values, "value-layer")[:, 0],
        decimals=5,
    )


def floats(*shape):
    return RNG.standard_normal(shape).astype("float32")


@pytest.mark.parametrize("kind", ["continuous", "one-hot", "choice", "byte", "choices", "bool", "parts"])
def test_actions(kind, backend):
    chosen, pairs, yes = np.array([2, 0]), np.array([[2, 0], [1, 1]]), np.array([True, False])
    move = floats(2, 2, 2)
    space, actions, columns = {
        "continuous": (FloatBox(-1.0, 1.0, shape=(2, 2)), move, move.reshape(2, 4)),
        "one-hot": (FloatBox(shape=(3,)), np.eye(3)[chosen].astype("float32"), np.eye(3)[chosen]),
        "choice": (IntBox(3), chosen, np.eye(3)[chosen]),
        "byte": (IntBox(3, dtype="uint8"), chosen.astype(np.uint8), np.eye(3)[chosen]),
        "choices": (IntBox(3, shape=(2,)), pairs, np.eye(3)[pairs].reshape(2, 6)),
        "bool": (BoolBox(), yes, np.array([[1.0], [0.0]])),
        "parts": (
            Dict(b=IntBox(3), a=Tuple(FloatBox(shape=(2, 2)), BoolBox())),
            {"b": chosen, "a": (move, yes)},
            np.concatenate([move.reshape(2, 4), yes[:, None], np.eye(3)[chosen]], axis=-1),
        ),
    }[kind]
    spaces = {"states": STATES, "actions": space.with_batch_rank()}
    test = ComponentTest(SACValueNetwork(LAYERS), spaces, backend=backend)
    states = floats(2, 3)
    check(test, states, actions, np.concatenate([states, columns], axis=-1).astype("float32"))


def test_the_last_layer_is_linear_and_as_described(backend):
    layers = [{"type": "dense", "units": 2, "weights_spec": 1.0}]
    spaces = {"states": STATES, "actions": FloatBox(add_batch_rank=True)}
    network = SACValueNetwork(layers, weights_spec=-3.0, biases_spec=0.5)
    test = ComponentTest(network, spaces, backend=backend)
    given = [np.float32([[1.0, 2.0, 3.0], [-1.0, -2.0, 0.0]]), np.float32([4.0, -1.0])]
    # Two units, of the sums 10 and -4.
    test.test(("state_action_value", given), expected_outputs=[-59.5, 24.5], decimals=4)


def test_images(backend):
    network = SACValueNetwork(
        LAYERS,
        state_network_spec=[
            {"type": "conv2d", "filters": 2, "kernel_size": 2},
            {"type": "reshape", "flatten": True},
        ],
    )
    spaces = {
        "states": FloatBox(shape=(3, 3, 1), add_batch_rank=True),
        "actions": FloatBox(shape=(1,), add_batch_rank=True),
    }
    test = ComponentTest(network, spaces, backend=backend)
    values = test.read_variable_values()
    images, actions = floats(2, 3, 3, 1), floats(2, 1)
    patches = np.lib.stride_tricks.sliding_window_view(images, (2, 2), axis=(1, 2))
    pixels = np.einsum("bijchw,hwcf->bijf", patches, values["state-network/conv2d-0/weights"])
    features = (pixels + values["state-network/conv2d-0/biases"]).reshape(2, -1)
    check(test, images, actions, np.concatenate([features, actions], axis=-1))


def test_sequences(backend):
    for options in ({}, {"time_major": True}):
        ranks = {"add_batch_rank": True, "add_time_rank": True, **options}
        spaces = {"states": FloatBox(shape=(3,), **ranks), "actions": FloatBox(shape=(1,), **ranks)}
        test = ComponentTest(SACValueNetwork(LAYERS), spaces, backend=backend)
        test.check_batch("state_action_value", floats(4, 2, 3), floats(4, 2, 1))


def test_wrong_spaces():
    spaces = {"states": STATES, "actions": FloatBox(shape=(1,), add_batch_rank=True)}
    images = FloatBox(shape=(3, 3, 1), add_batch_rank=True)
    convolutions = [{"type": "conv2d", "filters": 2, "kernel_size": 2}]
    with pytest.raises(SpaceError, match="states: expected features of rank 1.*end state_network_spec with"):
        ComponentTest(SACValueNetwork(LAYERS, convolutions), {**spaces, "states": images}, backend="numpy")
    with pytest.raises(
        SpaceError, match="actions/a: expected floats, bools, or integers with categories, given IntBox"
    ):
        actions = Dict(a=IntBox(None, None), add_batch_rank=True)
        ComponentTest(SACValueNetwork(LAYERS), {**spaces, "actions": actions}, backend="numpy")
    steps = {"states": FloatBox(shape=(3,), add_batch_rank=True, add_time_rank=True)}
    for options in ({"add_time_rank": True, "time_major": True}, {}):
        actions = FloatBox(shape=(1,), add_batch_rank=True, **options)
        with pytest.raises(
            SpaceError, match="actions: expected the ranks of states in their order, .* given .* bes"
        ):
            ComponentTest(SACValueNetwork(LAYERS), {**steps, "actions": actions}, backend="numpy")
    with pytest.raises(SpecError, match=r"state_network_spec\[0\].unts: Dense has no such key"):
        SACValueNetwork(LAYERS, [{"type": "dense", "unts": 2}])


def test_recurrent_layers_see_the_states():
    network = SACValueNetwork(LAYERS, [{"type": "lstm", "units": 2, "scope": "lstm"}], scope="critic")
    held = network.internal_states_space
    assert held == Dict(critic=Dict(lstm=lstm_states()))
    bundle = Dict(states=FloatBox(shape=(3,)), internal_states=held, add_batch_rank=True)
    spaces = {"states": bundle, "actions": FloatBox(shape=(1,), add_batch_rank=True)}
    test = ComponentTest(network, spaces, backend="numpy")
    rng = np.random.default_rng(0)
    states, actions = rng.normal(size=(4, 3)).astype("f"), rng.normal(size=(4, 1)).astype("f")
    values = [
        test.test(
            "state_action_value", {"states": states, "internal_states": {"critic": {"lstm": state}}}, actions
        )
        for state in (tuple(rng.normal(size=(2, 4, 2)).astype("f")), tuple(np.zeros((2, 4, 2), "f")))
    ]
    assert values[0].shape == (4,) and not np.isclose(*values).any()


def lstm_states():
    return Tuple(FloatBox(shape=(2,)), FloatBox(shape=(2,)), add_batch_rank=True)


def test_recurrent_layers_after_the_actions_are_refused():
    with pytest.raises(
        SpecError, match=r"network_spec: expected no recurrent layers.* give them as state_network"
    ):
        SACValueNetwork([{"type": "lstm", "units": 2}])
