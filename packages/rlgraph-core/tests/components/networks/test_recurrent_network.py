"""Networks with recurrent layers, against loops in NumPy."""

import numpy as np
import pytest

from rlgraph.components import GRU, LSTM, Dense, MultiLSTM, NeuralNetwork, RepeaterStack, Residual
from rlgraph.components.common.batch_apply import BatchApply
from rlgraph.core import AssemblyError, Component, SpecError, rlgraph_api
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, Tuple
from rlgraph.testing import ComponentTest

STEPS, BATCH, SIZE, UNITS = 5, 3, 2, 4
STATE = FloatBox(shape=(UNITS,), add_batch_rank=True)
STATES = Dict(lstm_1=Tuple(STATE, STATE))
LAYERS = (
    {"type": "dense", "units": 3, "activation": "tanh"},
    {"type": "lstm", "units": UNITS},
    {"type": "dense", "units": 2},
)
ONE = FloatBox(shape=(SIZE,), add_batch_rank=True)
ORDERS = [False, True]
RNG = np.random.default_rng(3)
X = RNG.normal(size=(STEPS, BATCH, SIZE)).astype(np.float32)
C, H = RNG.normal(size=(2, BATCH, UNITS)).astype(np.float32)
RESETS = np.array([[1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 0], [1, 1, 0]], bool)


def sequences(time_major, box=ONE):
    return box.with_extra_ranks(True, True, time_major)


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def lstm(weights, scope, xs, c, h, resets=None):
    outputs = []
    for t, x in enumerate(xs):
        if resets is not None:
            c, h = (np.where(resets[t][:, None], 0.0, s) for s in (c, h))
        z = (
            x @ weights[f"{scope}/weights"]
            + weights[f"{scope}/biases"]
            + h @ weights[f"{scope}/recurrent_weights"]
        )
        i, f, g, o = np.split(z, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs.append(h)
    return np.stack(outputs), (c, h)


def dense(weights, scope, x):
    return x @ weights[f"{scope}/weights"] + weights[f"{scope}/biases"]


def by_loops(weights, xs, c=0.0, h=0.0, resets=None, path=""):
    c, h = (np.zeros((xs.shape[1], UNITS)) + s for s in (c, h))
    outputs, states = lstm(
        weights, f"{path}lstm-1", np.tanh(dense(weights, f"{path}dense-0", xs)), c, h, resets
    )
    return dense(weights, f"{path}dense-2", outputs), {"lstm_1": states}


@pytest.mark.parametrize("time_major", ORDERS)
def test_steps_sequences_and_loops_are_the_same(time_major, acts_and_learns):
    spaces = {"x": ONE, "xs": sequences(time_major), "states": STATES}
    test = acts_and_learns(NeuralNetwork(LAYERS), spaces)
    outputs, states = by_loops(test.read_variable_values(), X, C, H, path="network/")
    xs, ys = (X, outputs) if time_major else (X.swapaxes(0, 1), outputs.swapaxes(0, 1))
    expected = {"output": ys, "internal_states": states}
    test.test("learn", xs, {"lstm_1": (C, H)}, expected_outputs=expected, decimals=5)
    carried = {"lstm_1": (C, H)}
    for t in range(STEPS):
        result = test.test(
            "act", X[t], carried, expected_outputs={"output": outputs[t], "internal_states": None}, decimals=5
        )
        carried = result["internal_states"]
    np.testing.assert_allclose(carried["lstm_1"], states["lstm_1"], atol=1e-5)


@pytest.mark.parametrize("time_major", ORDERS)
def test_resets_make_separate_sequences(time_major, acts_and_learns):
    resets_space = sequences(time_major, BoolBox(add_batch_rank=True))
    spaces = {"x": ONE, "xs": sequences(time_major), "states": STATES, "resets": resets_space}
    test = acts_and_learns(NeuralNetwork(LAYERS), spaces)
    weights = test.read_variable_values()
    xs, resets = (X, RESETS) if time_major else (X.swapaxes(0, 1), RESETS.T)
    result = test.test("learn", xs, {"lstm_1": (C, H)}, resets)
    output = result["output"] if time_major else result["output"].swapaxes(0, 1)
    outputs, states = by_loops(weights, X, C, H, RESETS, path="network/")
    np.testing.assert_allclose(output, outputs, atol=1e-5)
    np.testing.assert_allclose(result["internal_states"]["lstm_1"], states["lstm_1"], atol=1e-5)
    # The second environment: steps 0 and 1 go on from the states, 2 and 3 are an episode, and so is 4.
    for part, start in (
        (slice(0, 2), (C[1:2], H[1:2])),
        (slice(2, 4), (0.0, 0.0)),
        (slice(4, 5), (0.0, 0.0)),
    ):
        alone, _ = by_loops(weights, X[part, 1:2], *start, path="network/")
        np.testing.assert_allclose(output[part, 1:2], alone, atol=1e-5)


@pytest.mark.parametrize(
    "cell", [{"type": "gru", "units": UNITS}, {"type": "multi_lstm", "num_lstms": 2, "units": UNITS}]
)
def test_resets_of_other_cells(cell, backend):
    network = NeuralNetwork([{**cell, "scope": "cell"}])
    spaces = {
        "inputs": sequences(True),
        "resets": sequences(True, BoolBox(add_batch_rank=True)),
    }
    test = ComponentTest(network, spaces, backend=backend)
    reset_at_2 = np.zeros((STEPS, BATCH), bool)
    reset_at_2[2] = True
    none = np.zeros_like(reset_at_2)
    whole = test.test("call", X, reset_at_2)
    first, second = test.test("call", X[:2], none[:2]), test.test("call", X[2:], none[2:])
    np.testing.assert_allclose(whole, np.concatenate([first, second]), atol=1e-5)


def test_one_step_with_resets(backend):
    spaces = {"inputs": ONE, "internal_states": STATES, "resets": BoolBox(add_batch_rank=True)}
    test = ComponentTest(NeuralNetwork(LAYERS), spaces, backend=backend)
    outputs, states = by_loops(test.read_variable_values(), X[:1], C, H, RESETS[:1])
    test.test(
        "call_with_states",
        X[0],
        {"lstm_1": (C, H)},
        RESETS[0],
        expected_outputs={"output": outputs[0], "internal_states": states},
        decimals=5,
    )


def test_sequence_length_reaches_the_layers(backend):
    spaces = {"inputs": sequences(True), "sequence_length": IntBox(add_batch_rank=True)}
    test = ComponentTest(NeuralNetwork(LAYERS[:2]), spaces, backend=backend)
    weights, lengths = test.read_variable_values(), np.array([2, 5, 1])
    output = test.test("call", X, lengths)
    for b, length in enumerate(lengths):
        xs = np.tanh(dense(weights, "dense-0", X[:length, b : b + 1]))
        expected, _ = lstm(weights, "lstm-1", xs, np.zeros((1, UNITS)), np.zeros((1, UNITS)))
        np.testing.assert_allclose(output[:length, b], expected[:, 0], atol=1e-5)
        assert (output[length:, b] == 0.0).all()


def nested():
    return NeuralNetwork(
        [
            NeuralNetwork([Dense(UNITS, scope="in"), LSTM(UNITS, scope="cell")], scope="inner"),
            Residual(GRU(UNITS, scope="gru"), repeats=2, scope="residual"),
            RepeaterStack(LSTM(UNITS, scope="lstm"), repeats=2, scope="repeater"),
            MultiLSTM(2, UNITS, scope="multi"),
        ]
    )


def test_states_of_nested_layers_go_by_their_scopes(acts_and_learns):
    pair = Tuple(STATE, STATE)
    space = nested().internal_states_space
    assert space == Dict(
        inner=Dict(cell=pair),
        residual=Dict(gru=STATE, gru_1=STATE),
        repeater=Dict(lstm_0=pair, lstm_1=pair),
        multi=Tuple(pair, pair),
    )
    test = acts_and_learns(nested(), {"x": ONE, "xs": sequences(True), "states": space})
    states = space.map(lambda path, box: box).sample(size=BATCH, rng=np.random.default_rng(0))
    whole = test.test("learn", X, states)
    for t in range(STEPS):
        step = test.test("act", X[t], states)
        np.testing.assert_allclose(step["output"], whole["output"][t], atol=1e-5)
        states = step["internal_states"]
    test.test("learn", X, whole["internal_states"])
    for path in (("inner", "cell"), ("residual", "gru_1"), ("repeater", "lstm_0"), ("multi",)):
        one, other = states, whole["internal_states"]
        for key in path:
            one, other = one[key], other[key]
        np.testing.assert_allclose(one, other, atol=1e-5)


class EveryStep(Component):
    """The states after every step."""

    def __init__(self, network):
        self.network = network
        super().__init__(network, scope="every")

    @rlgraph_api
    def learn(self, xs, states, resets):
        return self.network.call_with_states(xs, states, resets=resets, every_step=True)

    @rlgraph_api
    def act(self, x, states, reset):
        return self.network.call_with_states(x, states, resets=reset, every_step=True)


@pytest.mark.parametrize("time_major", ORDERS)
def test_the_states_after_every_step_are_those_of_steps(time_major, backend):
    spaces = {
        "x": ONE,
        "xs": sequences(time_major),
        "states": nested().internal_states_space,
        "resets": sequences(time_major, BoolBox(add_batch_rank=True)),
        "reset": BoolBox(add_batch_rank=True),
    }
    test = ComponentTest(EveryStep(nested()), spaces, backend=backend)
    states = spaces["states"].sample(size=BATCH, rng=np.random.default_rng(0))
    xs, resets = (X, RESETS) if time_major else (X.swapaxes(0, 1), RESETS.T)
    every = spaces["states"].flatten_sample(test.test("learn", xs, states, resets)["internal_states"])
    for t in range(STEPS):
        states = test.test("act", X[t], states, RESETS[t])["internal_states"]
        for path, state in spaces["states"].flatten_sample(states).items():
            found = every[path][t] if time_major else every[path][:, t]
            np.testing.assert_allclose(found, state, atol=1e-5, err_msg=path)


def test_lengths_and_resets_reach_nested_layers(acts_and_learns):
    """Each sequence as its steps that count alone, and those from a reset on as if they began there."""
    spaces = {
        "x": ONE,
        "xs": sequences(True),
        "states": nested().internal_states_space,
        "resets": sequences(True, BoolBox(add_batch_rank=True)),
        "sequence_length": IntBox(add_batch_rank=True),
    }
    test = acts_and_learns(nested(), spaces)
    zeros = spaces["states"].with_batch_rank().zeros(BATCH)
    none, lengths = np.zeros((STEPS, BATCH), bool), np.array([2, 5, 1])
    whole = test.test("learn", X, zeros, none, lengths)
    for b, length in enumerate(lengths):
        alone = test.test("learn", X[:length], zeros, none[:length], np.full(BATCH, length))
        np.testing.assert_allclose(whole["output"][:length, b], alone["output"][:, b], atol=1e-5)
        found, expected = (spaces["states"].flatten_sample(run["internal_states"]) for run in (whole, alone))
        for path, states in found.items():
            np.testing.assert_allclose(states[b], expected[path][b], atol=1e-5)
    reset = none.copy()
    reset[2] = True
    all_steps = np.full(BATCH, STEPS)
    anew = test.test("learn", X, zeros, reset, all_steps)["output"][2:]
    alone = test.test("learn", X[2:], zeros, none[2:], all_steps - 2)["output"]
    np.testing.assert_allclose(anew, alone, atol=1e-5)


def test_a_network_without_recurrent_layers_stays_as_it_is(backend):
    network = NeuralNetwork([{"type": "dense", "units": 2}])
    assert network.internal_states_space is None
    test = ComponentTest(network, {"inputs": ONE}, backend=backend)
    output = test.test("call", X[0])
    test.test("call_with_states", X[0], expected_outputs={"output": output})


@pytest.mark.parametrize("time_major", ORDERS)
def test_folded_time(time_major, backend):
    space = sequences(time_major, FloatBox(shape=(4, 4, 1), add_batch_rank=True))
    layers = [{"type": "conv2d", "filters": 2, "kernel_size": 3}, {"type": "reshape", "flatten": True}]
    x = RNG.normal(size=(2, 3, 4, 4, 1)).astype(np.float32)
    outputs = {}
    only = {"fold_time_rank": True, "unfold_time_rank": False}
    for name, options in (("plain", {}), ("folded", {"fold_time_rank": True}), ("only", only)):
        network = NeuralNetwork(layers, **options)
        outputs[name] = ComponentTest(network, {"inputs": space}, backend=backend).test("call", x)
    assert outputs["plain"].shape == (2, 3, 8) and outputs["only"].shape == (6, 8)
    np.testing.assert_allclose(outputs["folded"], outputs["plain"], atol=1e-6)
    np.testing.assert_allclose(outputs["only"].reshape(2, 3, 8), outputs["plain"], atol=1e-6)
    step = FloatBox(shape=(4, 4, 1), add_batch_rank=True)
    stepping = ComponentTest(NeuralNetwork(layers, fold_time_rank=True), {"inputs": step}, backend=backend)
    np.testing.assert_allclose(stepping.test("call", x[0]), outputs["plain"][0], atol=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NeuralNetwork(LAYERS, fold_time_rank=True), "lstm-1 is recurrent and needs the time rank"),
        (lambda: NeuralNetwork(LAYERS, unfold_time_rank=True), "unfold_time_rank without fold_time_rank"),
        (lambda: BatchApply(LSTM(2)), "lstm is recurrent and takes sequences directly"),
        (
            lambda: NeuralNetwork([LSTM(2, scope="a-b"), LSTM(2, scope="a_b")]),
            "the internal states of 'a-b' and 'a_b' would both have the key 'a_b'",
        ),
    ],
)
def test_wrong_networks(make, message):
    with pytest.raises(SpecError, match=message):
        make()


def test_training_reaches_layers_of_recurrent_networks(backend):
    inner = NeuralNetwork([{"type": "lstm", "units": 50}, {"type": "dropout", "rate": 0.5}], scope="inner")
    test = ComponentTest(
        NeuralNetwork([inner]), {"inputs": ONE, "training": BoolBox()}, backend=backend, seed=1
    )

    def dropped(training):
        return (test.test(("call", {"inputs": X[0], "training": training})) == 0.0).mean()

    assert dropped(False) == 0.0 and 0.3 < dropped(True) < 0.7


def test_training_is_an_argument_by_name():
    class Root(Component):
        @rlgraph_api
        def run(self, x):
            return network.call(x, True)

    network = NeuralNetwork([Dense(2)], scope="net")
    with pytest.raises(AssemblyError, match=r"net: internal_states: .* call\(inputs, training=True\)"):
        ComponentTest(Root(network, scope="root"), {"x": ONE}, backend="numpy")


def test_wrong_states():
    with pytest.raises(SpaceError, match="expected no internal_states, since no layer keeps any"):
        ComponentTest(NeuralNetwork([Dense(2)]), {"inputs": ONE, "internal_states": STATES}, backend="numpy")
    with pytest.raises(
        SpaceError, match=r"network/call.internal_states: expected Dict\(.*lstm_1.*given Dict\(.*lstm_2"
    ):
        spaces = {"inputs": ONE, "internal_states": Dict(lstm_2=Tuple(STATE, STATE))}
        ComponentTest(NeuralNetwork(LAYERS), spaces, backend="numpy")
    with pytest.raises(SpaceError, match="resets: expected a BoolBox with the ranks of inputs"):
        spaces = {"inputs": sequences(True), "resets": BoolBox(add_batch_rank=True)}
        ComponentTest(NeuralNetwork(LAYERS), spaces, backend="numpy")


def test_scopes_as_names_of_states():
    """What is no letter, digit or _ becomes one, and no name begins with a digit."""
    network = NeuralNetwork(
        [{"type": "gru", "units": UNITS, "scope": scope} for scope in ("1st-layer", "2nd")]
    )
    assert network.internal_states_space == Dict({"_1st_layer": STATE, "_2nd": STATE})
