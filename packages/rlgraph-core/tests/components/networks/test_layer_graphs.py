"""Networks of several inputs and outputs: layers called with Spaces."""

import numpy as np
import pytest

from rlgraph.components import (
    LSTM,
    Concat,
    Conv2D,
    Dense,
    Dropout,
    NeuralNetwork,
    Policy,
    PreprocessorStack,
    QPolicy,
    Reshape,
    StringToHashBucket,
)
from rlgraph.core import AssemblyError, Component, RLGraphError, SpecError, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, TextBox, Tuple
from rlgraph.testing import ComponentTest

RNG = np.random.default_rng(0)


def box(*shape):
    return FloatBox(shape=shape, add_batch_rank=True)


def floats(*shape):
    return RNG.standard_normal(shape).astype("float32")


def dense(x, values, scope, activation=None):
    y = x @ values[f"{scope}/weights"] + values[f"{scope}/biases"]
    return np.tanh(y) if activation == "tanh" else y


def two_streams(inputs, image, number):
    """Convolutions of an image beside the one-hot of a number; logits and a value of both."""
    features = Reshape(flatten=True)(Conv2D(2, 3, scope="eye")(image))
    both = Concat()(
        features, Dense(4, "tanh", scope="ear")(Reshape(flatten=True, flatten_categories=True)(number))
    )
    return NeuralNetwork(
        inputs=inputs, outputs=[Dense(3, scope="logits")(both), Dense(1, scope="value")(both)]
    )


def expected_two_streams(image, number, values):
    kernel, biases = values["eye/weights"], values["eye/biases"]
    patches = np.lib.stride_tricks.sliding_window_view(image, (3, 3), axis=(1, 2))
    features = np.einsum("bijchw,hwcf->bijf", patches, kernel) + biases
    ear = dense(np.eye(5, dtype="float32")[number], values, "ear", "tanh")
    both = np.concatenate([features.reshape(len(image), -1), ear], axis=-1)
    return dense(both, values, "logits"), dense(both, values, "value")


@pytest.mark.parametrize("kind", ["list", "dict", "Dict"])
def test_several_inputs_and_outputs(kind, backend):
    image, number = box(4, 5, 2), IntBox(5, add_batch_rank=True)
    given = (floats(2, 4, 5, 2), np.array([3, 0]))
    if kind == "list":
        network, space = two_streams([image, number], image, number), Tuple(image, number)
    else:
        space = Dict(image=image, number=number)
        inputs = {"image": image, "number": number} if kind == "dict" else space
        network = two_streams(
            inputs, *((image, number) if kind == "dict" else (space["image"], space["number"]))
        )
        given = {"image": given[0], "number": given[1]}
    test = ComponentTest(network, {"inputs": space}, backend=backend)
    arrays = given.values() if isinstance(given, dict) else given
    expected = expected_two_streams(*arrays, test.read_variable_values())
    test.test(("call", [given]), expected_outputs=expected, decimals=5)


def test_one_space_need_not_be_named(backend):
    hidden = Dense(4, "tanh")(box(3))
    network = NeuralNetwork(outputs={"a": Dense(2)(hidden), "rest": (hidden, Dense(1)(hidden))})
    test = ComponentTest(network, {"inputs": box(3)}, backend=backend)
    values, x = test.read_variable_values(), floats(2, 3)
    assert sorted(values)[1::2] == ["dense-0/weights", "dense-1/weights", "dense-2/weights"]
    hidden = dense(x, values, "dense-0", "tanh")
    expected = {"a": dense(hidden, values, "dense-1"), "rest": (hidden, dense(hidden, values, "dense-2"))}
    test.test(("call", [x]), expected_outputs=expected, decimals=5)


def test_a_layer_called_twice_has_one_set_of_weights(backend):
    left, right, eye = box(3), box(3), Dense(2, scope="eye")
    network = NeuralNetwork(inputs=[left, right], outputs=Concat()(eye(right), eye(left)))
    test = ComponentTest(network, {"inputs": Tuple(left, right)}, backend=backend)
    values, a, b = test.read_variable_values(), floats(2, 3), floats(2, 3)
    assert sorted(values) == ["eye/biases", "eye/weights"]
    expected = np.concatenate([dense(b, values, "eye"), dense(a, values, "eye")], axis=-1)
    test.test(("call", [(a, b)]), expected_outputs=expected, decimals=5)


def test_parts_of_what_a_layer_returns():
    text = TextBox(add_batch_rank=True)
    words = StringToHashBucket(num_hash_buckets=7)(text)
    network = NeuralNetwork(inputs=text, outputs=[words[0], words[1]])
    test = ComponentTest(network, {"inputs": text}, backend="numpy")
    numbers, lengths = test.executor.execute("call", np.array(["a b", "c"], object))
    assert numbers.shape == (2, 2)
    np.testing.assert_array_equal(lengths, [2, 1])
    with pytest.raises(TypeError, match="not iterable"):
        _, _ = words


def test_layers_are_told_of_training():
    space = box(50)
    network = NeuralNetwork(outputs=Dropout(0.5)(Reshape(flatten=True)(space)))
    test = ComponentTest(network, {"inputs": space, "training": bool}, backend="numpy")
    x = np.ones((1, 50), "float32")
    test.test(("call", [x, False]), expected_outputs=x)
    assert set(np.unique(test.test(("call", [x, True])))) == {0.0, 2.0}


def test_a_copy_has_layers_of_its_own():
    network = NeuralNetwork(outputs=Dense(2)(Dense(3)(box(3))))
    twin = network.copy(scope="twin")
    assert not {id(layer) for layer in network.layers} & {id(layer) for layer in twin.layers}
    test = ComponentTest(twin, {"inputs": box(3)}, backend="numpy")
    values, x = test.read_variable_values(), floats(2, 3)
    expected = dense(dense(x, values, "dense-0"), values, "dense-1")
    test.test(("call", [x]), expected_outputs=expected, decimals=5)


def test_one_layer_in_two_networks():
    class Both(Component):
        def __init__(self):
            shared = Dense(4, scope="shared")
            space = box(3)
            self.first = NeuralNetwork(outputs=Dense(2)(shared(space)), scope="first")
            self.second = NeuralNetwork(outputs=Dense(2)(shared(space)), scope="second")
            super().__init__(self.first, self.second, scope="both")

        @rlgraph_api
        def call(self, inputs):
            return self.first.call(inputs), self.second.call(inputs)

    test = ComponentTest(Both(), {"inputs": box(3)}, backend="numpy")
    assert sorted(test.read_variable_values())[1::2] == [
        "first/dense-1/weights",
        "first/shared/weights",
        "second/dense-1/weights",
    ]


@pytest.mark.parametrize("streams", [1, 2])
def test_as_the_network_of_a_policy(streams, backend):
    states = Dict(image=box(4, 5, 2), number=IntBox(5, add_batch_rank=True))

    def network():
        ear = Dense(4, "tanh")(Reshape(flatten=True, flatten_categories=True)(states["number"]))
        eye = Reshape(flatten=True)(Conv2D(2, 3)(states["image"]))
        return (
            NeuralNetwork(inputs=states, outputs=Concat()(eye, ear))
            if streams == 2
            else NeuralNetwork(inputs={"number": states["number"]}, outputs=ear)
        )

    actions = {"actions": IntBox(3, add_batch_rank=True)}
    policy = ComponentTest(Policy(network(), IntBox(3)), {"observations": states, **actions}, backend=backend)
    policy.test(("get_action", [states.sample(2)]))
    values = ComponentTest(QPolicy(network(), IntBox(3)), {"observations": states}, backend=backend)
    assert values.test(("get_q_values", [states.sample(2)]))["q_values"].shape == (2, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layers": {"a": {"type": "dense"}}}, "expected a list of layer specs.*multi_input_stream_network"),
        ({"layers": [Dense(2)], "outputs": Dense(2)(box(3))}, "layers: expected None together with outputs"),
        ({"layers": [Dense(2)], "inputs": box(3)}, "and inputs, but no outputs"),
    ],
)
def test_either_layers_or_outputs(options, message):
    with pytest.raises(SpecError, match=message):
        NeuralNetwork(**options)


def test_wrong_inputs():
    a, b = box(3), box(3)
    hidden = Dense(2)(a)
    with pytest.raises(
        AssemblyError, match=r"network: dense, argument inputs: FloatBox\(.* is not an input of network"
    ):
        NeuralNetwork(inputs=b, outputs=hidden)
    with pytest.raises(AssemblyError, match=r"network.inputs\[1\]: no output depends on it"):
        NeuralNetwork(inputs=[a, b], outputs=hidden)
    with pytest.raises(AssemblyError, match="network.inputs: duplicate Space"):
        NeuralNetwork(inputs=[a, a], outputs=hidden)
    with pytest.raises(AssemblyError, match="depend on 2 Spaces, so inputs= must list the network's inputs"):
        NeuralNetwork(outputs=[hidden, Dense(2)(b)])
    with pytest.raises(AssemblyError, match="network.inputs: expected Spaces, given int 3"):
        NeuralNetwork(inputs=[a, 3], outputs=hidden)
    with pytest.raises(SpecError, match="and inputs, but no outputs"):
        NeuralNetwork([Dense(2)], inputs=a)


@pytest.mark.parametrize("outputs", [Dense(2), 3, np.zeros(2)])
def test_outputs_that_are_none(outputs):
    a = box(3)
    with pytest.raises(
        AssemblyError, match=r"network.outputs: expected the output of a layer, such as Dense\(2\)\(space\)"
    ):
        NeuralNetwork(inputs=a, outputs=outputs)
    with pytest.raises(AssemblyError, match="network.outputs: expected outputs of layers"):
        NeuralNetwork(inputs=a, outputs=a)


def test_wrong_calls_of_layers():
    a = box(3)
    with pytest.raises(
        AssemblyError, match=r"dense.call\(inputs\): too many positional arguments; it was given 2 inputs"
    ):
        Dense(2)(a, a)
    with pytest.raises(
        AssemblyError, match="argument inputs: expected a Space or the output of a layer, given ndarray"
    ):
        Dense(2)(np.zeros(3))
    with pytest.raises(
        AssemblyError, match="has no API method 'call': only layers with one can be called with Spaces"
    ):
        Policy([Dense(2)], IntBox(2))(a)
    with pytest.raises(
        AssemblyError, match="network: dropout is given 'training' as an input: the network passes it itself"
    ):
        NeuralNetwork(inputs=a, outputs=Dropout()(a, training=a))


def test_a_component_is_no_function_that_makes_one():
    """Though it can be called."""
    with pytest.raises(SpecError, match="expected a PreprocessLayer, a mapping with 'type', .*; given Dense"):
        PreprocessorStack([Dense(2)])


def test_a_layer_called_with_a_symbol():
    class Root(Component):
        def __init__(self):
            self.layer = Dense(2)
            super().__init__(self.layer, scope="root")

        @rlgraph_api
        def call(self, inputs):
            return self.layer(inputs)

    with pytest.raises(
        AssemblyError, match=r"given Symbol\(inputs\): in an API method write layer.call\(...\)"
    ):
        ComponentTest(Root(), {"inputs": box(3)}, backend="numpy")


class Inside(Component):
    """A network below another component."""

    def __init__(self, outputs, inputs):
        self.network = NeuralNetwork(inputs=inputs, outputs=outputs)
        super().__init__(self.network, scope="inside")

    @rlgraph_api
    def call(self, inputs):
        return self.network.call(inputs)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda a, b: [Conv2D(2, 3)(a), b], "network/conv2d-0/inputs: expected a FloatBox of rank 3"),
        (
            lambda a, b: Concat(scope="join")(a, Dense(2)(b)),
            "network/join: the shapes differ in more than the last",
        ),
    ],
)
def test_wrong_spaces_name_the_layer(make, message):
    a, b = box(3, 4), box(3)
    with pytest.raises((RLGraphError, SpaceError), match=f"^{message}"):
        ComponentTest(Inside(make(a, b), [a, b]), {"inputs": Tuple(a, b)}, backend="numpy")


def test_an_input_that_the_network_is_not_given():
    image, number = box(4, 5, 2), IntBox(5, add_batch_rank=True)
    network = two_streams({"image": image, "number": number}, image, number)
    space = Dict(picture=image, number=number)
    with pytest.raises(RLGraphError, match="image"):
        ComponentTest(network, {"inputs": space}, backend="numpy")


def test_numbers_that_are_taken():
    a = box(3)
    network = NeuralNetwork(outputs=Dense(2)(Dense(2)(Dense(2, scope="dense-1")(a))))
    assert [layer.scope for layer in network.layers] == ["dense-1", "dense-2", "dense-3"]


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def lstm_steps(values, scope, xs, c, h, resets):
    """``xs [T, B, N]`` one after the other."""
    outputs = []
    for x, reset in zip(xs, resets, strict=True):
        c, h = (np.where(reset[:, None], 0.0, state) for state in (c, h))
        z = (
            x @ values[f"{scope}/weights"]
            + h @ values[f"{scope}/recurrent_weights"]
            + values[f"{scope}/biases"]
        )
        i, f, g, o = np.split(z, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs.append(h)
    return np.stack(outputs), (c, h)


def test_states_are_carried(acts_and_learns):
    """Two inputs, one of which goes around the recurrent layer."""
    left, right = box(3), box(2)
    core = LSTM(4, scope="core")(left)
    outputs = [Dense(2, scope="logits")(Concat()(core, right)), core]
    network = NeuralNetwork(inputs={"left": left, "right": right}, outputs=outputs)
    state = FloatBox(shape=(4,))
    assert network.internal_states_space.with_batch_rank() == Dict(
        core=Tuple(state, state), add_batch_rank=True
    )
    one = Dict(left=left, right=right)
    spaces = {
        "x": one,
        "xs": one.with_extra_ranks(True, True, True),
        "states": Dict(core=Tuple(state, state), add_batch_rank=True),
        "resets": BoolBox(add_batch_rank=True, add_time_rank=True, time_major=True),
    }
    test = acts_and_learns(network, spaces)
    values = {name.removeprefix("network/"): value for name, value in test.read_variable_values().items()}
    xs, others = floats(5, 2, 3), floats(5, 2, 2)
    c, h = floats(2, 4), floats(2, 4)
    resets = np.zeros((5, 2), bool)
    resets[2, 1] = True
    hidden, states = lstm_steps(values, "core", xs, c, h, resets)
    logits = dense(np.concatenate([hidden, others], axis=-1), values, "logits")
    expected = {"output": (logits, hidden), "internal_states": {"core": states}}
    given = {"left": xs, "right": others}
    test.test(("learn", [given, {"core": (c, h)}, resets]), expected_outputs=expected, decimals=5)
    for t in range(2):
        one_step = {"left": xs[t], "right": others[t]}
        found = test.test(("act", [one_step, {"core": (c, h)}]))
        np.testing.assert_allclose(found["output"][0], logits[t], atol=1e-5)
        c, h = found["internal_states"]["core"]


def test_recurrent_layers_that_cannot_be():
    a = box(3)
    layer = LSTM(4)
    with pytest.raises(
        AssemblyError, match="lstm is recurrent and called twice, and has one set of internal states"
    ):
        NeuralNetwork(outputs=[layer(a), layer(a)])
    with pytest.raises(
        AssemblyError, match="lstm is recurrent and given inputs, sequence_length: it may be given only"
    ):
        NeuralNetwork(inputs=[a, IntBox(add_batch_rank=True)], outputs=layer(a, sequence_length=a))
