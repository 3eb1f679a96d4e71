"""The networks of IMPALA: sizes as in the paper, steps and sequences, and a loop in NumPy."""

import numpy as np
import pytest

from rlgraph.components import InstructionEncoder, LargeIMPALANetwork, SmallIMPALANetwork
from rlgraph.core import RLGraphError
from rlgraph.spaces import Dict, FloatBox, IntBox, SpaceError, TextBox, Tuple
from rlgraph.testing import ComponentTest

RNG = np.random.default_rng(0)
NUM_ACTIONS, UNITS = 9, 4
TEXTS = np.array([["go to the blue door", "jump"], ["", "go to the red door"], ["jump", "stop"]], object)


def state_space(height, width):
    return Dict(
        image=IntBox(256, shape=(height, width, 3), dtype="uint8"),
        instruction=TextBox(),
        previous_action=IntBox(NUM_ACTIONS),
        previous_reward=FloatBox(),
        add_batch_rank=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "millions"), [(SmallIMPALANetwork, 1.2), (LargeIMPALANetwork, 1.6)])
def test_as_many_parameters_as_in_the_paper(kind, millions):
    """Of frames of 72 x 96, the network with its LSTM; policy and value are 2,570 more."""
    test = ComponentTest(kind(text_key="instruction"), {"inputs": state_space(72, 96)}, backend="numpy")
    weights = test.read_variable_values()
    assert round(sum(w.size for w in weights.values()) / 1e6, 1) == millions
    convolutions = [w for w in weights.values() if w.ndim == 4]
    assert len(convolutions) == {SmallIMPALANetwork: 2, LargeIMPALANetwork: 15}[kind]


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def lstm(values, scope, xs, state):
    c, h = state
    outputs = []
    for x in xs:
        z = (
            x @ values[f"{scope}/weights"]
            + h @ values[f"{scope}/recurrent_weights"]
            + values[f"{scope}/biases"]
        )
        i, f, g, o = np.split(z, 4, axis=-1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs.append(h)
    return outputs, (c, h)


def conv(values, scope, x, stride, same):
    kernel, size = values[f"{scope}/weights"], values[f"{scope}/weights"].shape[0]
    if same:
        x = np.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)])
    patches = np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(1, 2))[:, ::stride, ::stride]
    return np.einsum("bijchw,hwcf->bijf", patches, kernel) + values[f"{scope}/biases"]


def pool(x):
    """3 x 3, every second place; of even sizes there is one more row behind than ahead."""
    padded = np.pad(x, [(0, 0), (0, 1), (0, 1), (0, 0)], constant_values=-np.inf)
    return np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))[:, ::2, ::2].max((-1, -2))


def image_features(values, kind, image):
    x = image / 255.0
    if kind is SmallIMPALANetwork:
        x = np.maximum(conv(values, "conv2d-0", x, 4, False), 0.0)
        x = np.maximum(conv(values, "conv2d-1", x, 2, False), 0.0)
    else:
        for i in range(3):
            x = pool(conv(values, f"conv2d-{i}", x, 1, True))
            for j in range(2):
                unit = f"residual-{i}-{j}/unit-0"
                inner = conv(values, f"{unit}/conv2d-1", np.maximum(x, 0.0), 1, True)
                x = x + conv(values, f"{unit}/conv2d-3", np.maximum(inner, 0.0), 1, True)
        x = np.maximum(x, 0.0)
    flat = x.reshape(len(x), -1)
    return np.maximum(flat @ values["image-features/weights"] + values["image-features/biases"], 0.0)


def text_features(values, network, texts):
    rows = []
    for text in texts:
        numbers, _ = network.get_sub_component_by_name("instruction").words.numbers_of([text])
        words = values["instruction/embedding/table"][numbers[0][: len(text.split())]]
        rows.append(lstm(values, "instruction/lstm", words, (np.zeros(64), np.zeros(64)))[1][1])
    return np.stack(rows)


@pytest.mark.parametrize("kind", [SmallIMPALANetwork, LargeIMPALANetwork])
def test_steps_and_sequences(kind, acts_and_learns):
    network = kind(text_key="instruction", units=UNITS, image_units=5)
    one = state_space(*((24, 28) if kind is SmallIMPALANetwork else (8, 8)))
    state = FloatBox(shape=(UNITS,))
    states = Dict(core=Tuple(state, state), add_batch_rank=True)
    assert network.internal_states_space.with_batch_rank() == states
    spaces = {"x": one, "xs": one.with_extra_ranks(True, True, True), "states": states}
    test = acts_and_learns(network, spaces)
    values = {
        k.removeprefix("network/").removeprefix("impala-network/"): v
        for k, v in test.read_variable_values().items()
    }
    xs = {
        "image": RNG.integers(0, 256, (3, 2, *one["image"].shape)).astype("uint8"),
        "instruction": TEXTS,
        "previous_action": RNG.integers(0, NUM_ACTIONS, (3, 2)),
        "previous_reward": RNG.standard_normal((3, 2)).astype("float32"),
    }
    c, h = RNG.standard_normal((2, 2, UNITS)).astype("float32")
    features = [
        np.concatenate(
            [
                image_features(values, kind, xs["image"][t]),
                np.eye(NUM_ACTIONS)[xs["previous_action"][t]],
                xs["previous_reward"][t][:, None],
                text_features(values, network, xs["instruction"][t]),
            ],
            axis=-1,
        )
        for t in range(3)
    ]
    outputs, behind = lstm(values, "core", features, (c, h))
    expected = {"output": np.stack(outputs), "internal_states": {"core": behind}}
    test.test(("learn", [xs, {"core": (c, h)}]), expected_outputs=expected, decimals=4)
    first = {name: values[0] for name, values in xs.items()}
    found = test.test(("act", [first, {"core": (c, h)}]))
    np.testing.assert_allclose(found["output"], outputs[0], atol=1e-4)


def test_without_text(backend):
    space = Dict({name: part for name, part in state_space(24, 28).items() if name != "instruction"})
    test = ComponentTest(SmallIMPALANetwork(units=UNITS), {"inputs": space}, backend=backend)
    assert test.test(("call", [space.sample(2)])).shape == (2, UNITS)
    assert not any("instruction" in name for name in test.read_variable_values())


def test_wrong_spaces():
    space = state_space(24, 28)
    with pytest.raises(SpaceError, match="instruction/words.*text_inputs: expected a TextBox without axes"):
        ComponentTest(SmallIMPALANetwork(text_key="previous_reward"), {"inputs": space}, backend="numpy")
    with pytest.raises((RLGraphError, SpaceError), match="picture"):
        ComponentTest(SmallIMPALANetwork(image_key="picture"), {"inputs": space}, backend="numpy")
    with pytest.raises(SpaceError, match="conv2d-0"):
        small = state_space(4, 4)
        ComponentTest(SmallIMPALANetwork(), {"inputs": small}, backend="numpy")


def test_instructions_read_from_zero(backend):
    """The order of the texts in a batch, and words behind the last, do not matter."""
    spaces = {"texts": TextBox(add_batch_rank=True)}
    test = ComponentTest(InstructionEncoder(7, 3, 2), spaces, backend=backend)
    texts = TEXTS.ravel()
    together = test.test(("call", [texts]))
    alone = np.concatenate([test.test(("call", [texts[i : i + 1]])) for i in range(6)])
    np.testing.assert_allclose(together, alone, atol=1e-6)
    np.testing.assert_array_equal(together[2], 0.0)
    np.testing.assert_array_equal(together[1], together[4])
