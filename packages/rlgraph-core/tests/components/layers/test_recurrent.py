"""LSTM, GRU and MultiLSTM against loops over single numbers."""

import numpy as np
import pytest

from rlgraph.components import GRU, LSTM, Adam, Dense, MultiLSTM
from rlgraph.core import Component, SpecError, gradients, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, FloatBox, IntBox, SpaceError, Tuple
from rlgraph.testing import ComponentTest

STEPS, BATCH, SIZE, UNITS = 4, 3, 2, 3
RANDOM = {"type": "normal", "stddev": 0.7}
TIME_MAJOR = FloatBox(shape=(SIZE,), add_batch_rank=True, add_time_rank=True, time_major=True)
BATCH_MAJOR = FloatBox(shape=(SIZE,), add_batch_rank=True, add_time_rank=True)
ONE_STEP = FloatBox(shape=(SIZE,), add_batch_rank=True)
STATE = FloatBox(shape=(UNITS,), add_batch_rank=True)
C_AND_H = Tuple(STATE, STATE)
LENGTHS = IntBox(STEPS + 1, add_batch_rank=True)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(STEPS, BATCH, SIZE)).astype(np.float32)
C, H = RNG.normal(size=(2, BATCH, UNITS)).astype(np.float32)


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def lstm_by_loops(weights, x, c=None, h=None, lengths=None, clip=np.inf, scope="lstm"):
    """Unit by unit, step by step, as in the papers."""
    w, u, b = (weights[f"{scope}/{name}"] for name in ("weights", "recurrent_weights", "biases"))
    units = len(u)
    p = weights.get(f"{scope}/peepholes", np.zeros((3, units)))
    steps, batch, _ = x.shape
    outputs = np.zeros((steps, batch, units))
    cells = np.zeros((batch, units)) if c is None else c.astype(np.float64)
    hidden = np.zeros((batch, units)) if h is None else h.astype(np.float64)
    for n in range(batch):
        for t in range(steps if lengths is None else lengths[n]):
            z = [x[t, n] @ w[:, k] + hidden[n] @ u[:, k] + b[k] for k in range(4 * units)]
            for k in range(units):
                i = sigmoid(z[k] + p[0, k] * cells[n, k])
                f = sigmoid(z[units + k] + p[1, k] * cells[n, k])
                new = f * cells[n, k] + i * np.tanh(z[2 * units + k])
                cells[n, k] = min(max(new, -clip), clip)
                hidden[n, k] = sigmoid(z[3 * units + k] + p[2, k] * cells[n, k]) * np.tanh(cells[n, k])
            outputs[t, n] = hidden[n]
    return outputs, (cells, hidden)


def gru_by_loops(weights, x, h=None, lengths=None):
    w, u, b, v = (
        weights[f"gru/{name}"] for name in ("weights", "recurrent_weights", "biases", "recurrent_biases")
    )
    units = len(u)
    steps, batch, _ = x.shape
    outputs = np.zeros((steps, batch, units))
    hidden = np.zeros((batch, units)) if h is None else h.astype(np.float64)
    for n in range(batch):
        for t in range(steps if lengths is None else lengths[n]):
            given, inner = x[t, n] @ w + b, hidden[n] @ u + v
            for k in range(units):
                r, z = (sigmoid(given[j * units + k] + inner[j * units + k]) for j in (0, 1))
                new = np.tanh(given[2 * units + k] + r * inner[2 * units + k])
                hidden[n, k] = (1.0 - z) * new + z * hidden[n, k]
            outputs[t, n] = hidden[n]
    return outputs, hidden


def lstm_test(spaces, backend, **options):
    return ComponentTest(LSTM(UNITS, biases_spec=RANDOM, **options), spaces, backend=backend)


def gru_test(spaces, backend, **options):
    layer = GRU(UNITS, biases_spec=RANDOM, recurrent_biases_spec=RANDOM, **options)
    return ComponentTest(layer, spaces, backend=backend)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"cell_clip": 0.4},
        {"use_peepholes": True, "peepholes_spec": RANDOM},
        {"use_peepholes": True, "peepholes_spec": RANDOM, "cell_clip": 0.4},
    ],
)
def test_an_lstm_over_sequences(options, backend):
    test = lstm_test({"inputs": TIME_MAJOR}, backend, **options)
    expected = lstm_by_loops(test.read_variable_values(), X, clip=options.get("cell_clip", np.inf))
    test.test("call", X, expected_outputs=expected, decimals=5)


def test_a_gru_over_sequences(backend):
    test = gru_test({"inputs": TIME_MAJOR}, backend)
    test.test("call", X, expected_outputs=gru_by_loops(test.read_variable_values(), X), decimals=5)


class EveryStep(Component):
    """The states after every step."""

    def __init__(self, layer):
        self.layer = layer
        super().__init__(layer, scope="every")

    @rlgraph_api
    def call(self, x, sequence_length=None):
        return self.layer.call(x, None, sequence_length, every_step=True)


@pytest.mark.parametrize(
    ("space", "lengths", "return_sequences"),
    [
        (TIME_MAJOR, None, True),
        (BATCH_MAJOR, np.array([2, 1, 4], np.int32), True),
        (TIME_MAJOR, np.array([2, 1, 4], np.int32), False),
    ],
)
def test_the_states_after_every_step(space, lengths, return_sequences, backend):
    """Those after step t are the last states of the sequence up to t; after the last valid step they stay."""
    spaces = {"x": space} | ({} if lengths is None else {"sequence_length": LENGTHS})
    layer = LSTM(UNITS, biases_spec=RANDOM, return_sequences=return_sequences)
    test = ComponentTest(EveryStep(layer), spaces, backend=backend)
    weights, rest = test.read_variable_values(), () if lengths is None else (lengths,)
    x = X if space.time_major else X.swapaxes(0, 1)
    outputs, (c, h) = test.test("call", x, *rest)
    expected, (_, last) = lstm_by_loops(weights, X, lengths=lengths, scope="lstm")
    if not space.time_major:
        c, h = c.swapaxes(0, 1), h.swapaxes(0, 1)
        outputs = outputs.swapaxes(0, 1) if return_sequences else outputs
    np.testing.assert_allclose(outputs, expected if return_sequences else last, atol=1e-5)
    for t in range(STEPS):
        done = np.full(BATCH, t + 1) if lengths is None else np.minimum(lengths, t + 1)
        _, states = lstm_by_loops(weights, X, lengths=done, scope="lstm")
        np.testing.assert_allclose((c[t], h[t]), states, atol=1e-5)


def test_states_and_lengths_of_sequences(backend):
    lengths = np.array([2, 0, 4], np.int32)
    spaces = {"inputs": TIME_MAJOR, "initial_c_and_h_states": C_AND_H, "sequence_length": LENGTHS}
    test = lstm_test(spaces, backend)
    outputs, states = lstm_by_loops(test.read_variable_values(), X, C, H, lengths)
    assert (outputs[2:, 0] == 0.0).all() and (outputs[:, 1] == 0.0).all()
    np.testing.assert_array_equal(states[0][1], C[1])
    test.test("call", X, (C, H), lengths, expected_outputs=(outputs, states), decimals=5)

    spaces = {"inputs": TIME_MAJOR, "initial_h_states": STATE, "sequence_length": LENGTHS}
    test = gru_test(spaces, backend)
    expected = gru_by_loops(test.read_variable_values(), X, H, lengths)
    test.test("call", X, H, lengths, expected_outputs=expected, decimals=5)


@pytest.mark.parametrize("lengths", [False, True])
def test_no_steps_at_all(lengths, backend):
    """Empty outputs, and the states as they were."""
    spaces = {"inputs": TIME_MAJOR, "initial_c_and_h_states": C_AND_H}
    given = [X[:0], (C, H)]
    if lengths:
        spaces["sequence_length"], given = LENGTHS, [*given, np.zeros(BATCH, np.int64)]
    outputs, states = lstm_test(spaces, backend).executor.execute("call", *given)
    assert outputs.shape == (0, BATCH, UNITS)
    np.testing.assert_array_equal(states, (C, H))
    outputs, h = gru_test({"inputs": TIME_MAJOR, "initial_h_states": STATE}, backend).executor.execute(
        "call", X[:0], H
    )
    assert outputs.shape == (0, BATCH, UNITS)
    np.testing.assert_array_equal(h, H)


def test_the_order_of_batch_and_time_is_that_of_the_inputs(backend):
    for make in (lstm_test, gru_test):
        outputs, states = make({"inputs": TIME_MAJOR}, backend).test("call", X)
        test = make({"inputs": BATCH_MAJOR}, backend)
        test.test("call", X.swapaxes(0, 1), expected_outputs=(outputs.swapaxes(0, 1), states))


RESETS = np.zeros((STEPS, BATCH), bool)
RESETS[2, 0] = RESETS[1, 2] = RESETS[3, 2] = True


def by_pieces(by_loops, weights):
    """Outputs of each row, whose pieces begin where there are resets, each with states of zero."""
    outputs = np.zeros((STEPS, BATCH, UNITS))
    for n in range(BATCH):
        for piece in np.split(np.arange(STEPS), np.flatnonzero(RESETS[:, n])):
            outputs[piece, n] = by_loops(weights, X[piece][:, [n]])[0][:, 0]
    return outputs


@pytest.mark.parametrize(("make", "by_loops"), [(lstm_test, lstm_by_loops), (gru_test, gru_by_loops)])
def test_resets_begin_new_sequences(make, by_loops, backend):
    flags = BoolBox(add_batch_rank=True, add_time_rank=True, time_major=True)
    test = make({"inputs": TIME_MAJOR, "resets": flags}, backend)
    expected = by_pieces(by_loops, test.read_variable_values())
    outputs, states = test.test(("call", {"inputs": X, "resets": RESETS}))
    np.testing.assert_allclose(outputs, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(states[-1] if len(states) == 2 else states, expected[-1], rtol=1e-5, atol=1e-6)
    test = make({"inputs": BATCH_MAJOR, "resets": flags.with_extra_ranks(time_major=False)}, backend)
    given = {"inputs": X.swapaxes(0, 1), "resets": RESETS.T}
    test.test(("call", given), expected_outputs=(outputs.swapaxes(0, 1), states))


class Parts(Component):
    """Sequences in parts, each from its own states."""

    def __init__(self, layer):
        self.layer = layer
        super().__init__(layer, scope="parts")

    @rlgraph_api
    def last(self, x, states):
        return self.layer.call(x, states)

    @rlgraph_api
    def every(self, x, states):
        return self.layer.call(x, states, every_step=True)


@pytest.mark.parametrize(("layer", "by_loops", "number"), [(LSTM, lstm_by_loops, 2), (GRU, gru_by_loops, 1)])
def test_states_before_parts_of_sequences(layer, by_loops, number, backend):
    """Two parts of two steps, each from its own states."""
    space = FloatBox(shape=(UNITS,), add_batch_rank=True, add_time_rank="parts", time_major=True)
    given = np.random.default_rng(1).normal(size=(number, 2, BATCH, UNITS)).astype(np.float32)
    before = tuple(given) if number == 2 else given[0]
    spaces = {"x": TIME_MAJOR, "states": Tuple(space, space) if number == 2 else space}
    test = ComponentTest(Parts(layer(UNITS)), spaces, backend=backend)
    weights = {name.removeprefix("parts/"): value for name, value in test.read_variable_values().items()}
    outputs, last = test.test("last", X, before)
    for i, steps in enumerate((slice(0, 2), slice(2, 4))):
        expected, after = by_loops(weights, X[steps], *given[:, i])
        np.testing.assert_allclose(outputs[steps], expected, rtol=0, atol=1e-5)
    np.testing.assert_allclose(last, after, rtol=0, atol=1e-5)
    _, every = test.test("every", X, before)
    np.testing.assert_allclose(every[-1] if number == 2 else every, outputs)
    with pytest.raises(SpaceError, match="time-major inputs without lengths beside states of parts"):
        refused = {"inputs": BATCH_MAJOR, layer.states_argument: spaces["states"]}
        ComponentTest(layer(UNITS), refused, backend=backend)


def test_the_last_output_is_that_of_the_last_step_that_counts(backend):
    spaces = {"inputs": TIME_MAJOR, "sequence_length": LENGTHS}
    lengths = np.array([2, 1, 4])
    arguments = {"inputs": X, "sequence_length": lengths}
    outputs, _ = lstm_test(spaces, backend).test(("call", arguments))
    test = lstm_test(spaces, backend, return_sequences=False)
    expected = outputs[lengths - 1, np.arange(BATCH)]
    test.test(("call", arguments), expected_outputs=(expected, None))


class Recurrent(Component):
    """The same layer over sequences, and step by step."""

    def __init__(self, layer):
        self.layer = layer
        super().__init__(layer, scope="recurrent")

    @rlgraph_api
    def learn(self, sequences, states):
        return self.layer.call(sequences, states)

    @rlgraph_api
    def act(self, x_t, states):
        return self.layer.call(x_t, states)


@pytest.mark.parametrize(
    ("make", "states"),
    [
        (lambda: LSTM(UNITS, use_peepholes=True, peepholes_spec=RANDOM), (C, H)),
        (lambda: GRU(UNITS), H),
        (lambda: MultiLSTM(2, UNITS, skip_connections=[True]), ((C, H), (H, C))),
    ],
)
@pytest.mark.parametrize("sequences", [TIME_MAJOR, BATCH_MAJOR])
def test_step_by_step_is_the_whole_sequence(make, states, sequences, backend):
    space = STATE if states is H else C_AND_H if states[0] is C else Tuple(C_AND_H, C_AND_H)
    spaces = {"sequences": sequences, "x_t": ONE_STEP, "states": space}
    test = ComponentTest(Recurrent(make()), spaces, backend=backend)
    outputs, last = test.test("learn", X if sequences is TIME_MAJOR else X.swapaxes(0, 1), states)
    outputs = outputs if sequences is TIME_MAJOR else outputs.swapaxes(0, 1)
    for t in range(STEPS):
        _, states = test.test("act", X[t], states, expected_outputs=(outputs[t], None), decimals=5)
    test.test("act", X[0], last)  # states come back as they are taken
    for one, other in zip(np.stack(np.ravel(states)), np.stack(np.ravel(last)), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_any_batch_and_any_length(backend):
    test = lstm_test({"inputs": TIME_MAJOR}, backend)
    for steps, batch in ((1, 1), (7, 2), (2, 5)):
        x = np.random.default_rng(steps).normal(size=(steps, batch, SIZE)).astype(np.float32)
        expected = lstm_by_loops(test.read_variable_values(), x)
        test.test("call", x, expected_outputs=expected, decimals=5)


@pytest.mark.parametrize(
    ("connections", "sources"),
    [
        (None, ["x", "0", "1"]),
        ([True], ["x", "x0", "1"]),
        ([[True, True], [False, True, False, False]], ["x", "x0", "0"]),
        ([[True, False], True], ["x", "x", "x01"]),
    ],
)
def test_multi_lstm_is_layer_upon_layer(connections, sources, backend):
    layer = MultiLSTM(3, [UNITS, 2, UNITS], skip_connections=connections)
    test = ComponentTest(layer, {"inputs": TIME_MAJOR}, backend=backend)
    weights, outputs, states = test.read_variable_values(), {"x": X}, []
    for i, source in enumerate(sources):
        given = np.concatenate([outputs[name] for name in source], axis=-1)
        outputs[str(i)], last = lstm_by_loops(weights, given, scope=f"lstm-{i}")
        states.append(last)
    test.test("call", X, expected_outputs=(outputs["2"], tuple(states)), decimals=5)


def test_multi_lstm_hands_states_and_lengths_to_each_layer(backend):
    spaces = {
        "inputs": TIME_MAJOR,
        "initial_c_and_h_states": Tuple(C_AND_H, C_AND_H),
        "sequence_length": LENGTHS,
    }
    test = ComponentTest(MultiLSTM(2, UNITS, return_sequences=False), spaces, backend=backend)
    weights, lengths = test.read_variable_values(), np.array([1, 4, 2])
    outputs, first = lstm_by_loops(weights, X, C, H, lengths, scope="lstm-0")
    _, second = lstm_by_loops(weights, outputs, H, C, lengths, scope="lstm-1")
    expected = (second[1], (first, second))
    test.test("call", X, ((C, H), (H, C)), lengths, expected_outputs=expected, decimals=5)


def test_an_untrained_cell_remembers():
    values = ComponentTest(LSTM(2), {"inputs": ONE_STEP}, backend="numpy").read_variable_values()
    np.testing.assert_array_equal(values["lstm/biases"], [0, 0, 1, 1, 0, 0, 0, 0])
    np.testing.assert_allclose(
        values["lstm/recurrent_weights"] @ values["lstm/recurrent_weights"].T, np.eye(2), atol=1e-6
    )
    layer = LSTM(1, forget_bias=-2.0, biases_spec=[1.0, 2.0, 3.0, 4.0])
    values = ComponentTest(layer, {"inputs": ONE_STEP}, backend="numpy").read_variable_values()
    np.testing.assert_array_equal(values["lstm/biases"], [1, 0, 3, 4])
    assert layer.biases_spec == [1.0, 2.0, 3.0, 4.0]


class Remember(Component):
    """Learns to say at the end of a sequence how it began."""

    def __init__(self, layer):
        self.layer, self.optimizer = layer, Adam(0.02)
        super().__init__(layer, self.optimizer, scope="remember")

    @rlgraph_api
    def update(self, inputs):
        outputs, _ = self.layer.call(inputs)
        loss = self._loss(outputs, inputs)
        self.optimizer.step(self.layer.variables(), loss)
        return loss

    @graph_fn
    def _loss(self, ops, outputs, inputs):
        return ops.mean(ops.square(outputs[:, 0] - ops.tanh(inputs[0, :, 0])))


@pytest.mark.parametrize("make", [LSTM, GRU])
def test_it_learns_through_time(make, trainer):
    test = ComponentTest(Remember(make(8, return_sequences=False)), {"inputs": TIME_MAJOR}, backend=trainer)
    x = np.random.default_rng(1).normal(size=(6, 16, SIZE)).astype(np.float32)
    losses = [float(test.test("update", x)) for _ in range(80)]
    assert losses[-1] < 0.1 * losses[0]


def test_weights_can_be_saved(backend, tmp_path):
    test = lstm_test({"inputs": TIME_MAJOR}, backend, use_peepholes=True, peepholes_spec=RANDOM)
    expected = test.test("call", X)
    test.executor.save(tmp_path / "saved")
    other = ComponentTest(LSTM(UNITS, use_peepholes=True), {"inputs": TIME_MAJOR}, backend=backend, seed=7)
    other.executor.load(tmp_path / "saved")
    other.test("call", X, expected_outputs=expected)


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (LSTM, {"units": 0}, "lstm.units: expected an integer >= 1, given 0"),
        (LSTM, {"units": 2, "cell_clip": -1.0}, "lstm.cell_clip: expected a number > 0, or None, given -1.0"),
        (LSTM, {"units": 2, "cell_clip": True}, "lstm.cell_clip: expected a number > 0, or None, given True"),
        (LSTM, {"units": 2, "forget_bias": "1"}, "lstm.forget_bias: expected a number, given '1'"),
        (GRU, {"units": "2"}, "gru.units: expected an integer >= 1, given '2'"),
        (
            MultiLSTM,
            {"num_lstms": 1, "units": 2},
            "multi-lstm.num_lstms: expected an integer in [2, 1000], given 1",
        ),
        (
            MultiLSTM,
            {"num_lstms": 2, "units": [3]},
            "multi-lstm.units: expected one value, or 2, one per layer, given [3]",
        ),
        (MultiLSTM, {"num_lstms": 2, "units": [3, 0]}, "lstm-1.units: expected an integer >= 1, given 0"),
        (
            MultiLSTM,
            {"num_lstms": 2, "units": 3, "skip_connections": [[False, False]]},
            "multi-lstm.skip_connections[0]: expected True, or bools of which at least one of the first 2",
        ),
        (
            MultiLSTM,
            {"num_lstms": 2, "units": 3, "skip_connections": [True, True]},
            "multi-lstm.skip_connections: expected a list of at most 1 entries",
        ),
        (
            MultiLSTM,
            {"num_lstms": 2, "units": 3, "skip_connections": True},
            "multi-lstm.skip_connections: expected a list of at most 1 entries",
        ),
        (
            MultiLSTM,
            {"num_lstms": 2, "units": 3, "skip_connections": [1]},
            "each True or a list of bools, given [1]",
        ),
        (
            MultiLSTM,
            {"num_lstms": 2, "units": 3, "skip_connections": [[True, False, True]]},
            "multi-lstm.skip_connections[0]: expected True, or bools",
        ),
    ],
)
def test_wrong_arguments(make, arguments, message):
    with pytest.raises(SpecError) as error:
        make(**arguments)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("layer", "spaces", "message"),
    [
        (
            LSTM(2),
            {"inputs": IntBox(4, add_batch_rank=True, add_time_rank=True)},
            "expected a FloatBox of rank 1",
        ),
        (LSTM(2), {"inputs": FloatBox(shape=(2,))}, "with batch rank"),
        (LSTM(2, time_major=True), {"inputs": BATCH_MAJOR}, "expected time_major=True"),
        (MultiLSTM(2, 2, time_major=False), {"inputs": TIME_MAJOR}, "expected time_major=False"),
        (
            LSTM(2),
            {"inputs": TIME_MAJOR, "initial_c_and_h_states": C_AND_H},
            r"initial_c_and_h_states: expected a Tuple of c and h, each FloatBox\(shape=\(2,\), add_batch_rank=True\)",
        ),
        (LSTM(3), {"inputs": TIME_MAJOR, "initial_c_and_h_states": STATE}, "expected a Tuple of c and h"),
        (GRU(3), {"inputs": TIME_MAJOR, "initial_h_states": C_AND_H}, r"expected FloatBox\(shape=\(3,\)"),
        (
            GRU(3),
            {"inputs": TIME_MAJOR, "sequence_length": FloatBox(add_batch_rank=True)},
            "sequence_length: expected IntBox",
        ),
        (
            GRU(3),
            {"inputs": ONE_STEP, "sequence_length": LENGTHS},
            "sequence_length: expected inputs with time rank",
        ),
        (
            MultiLSTM(2, 3),
            {"inputs": TIME_MAJOR, "initial_c_and_h_states": C_AND_H},
            "a Tuple of c and h, each",
        ),
        (
            MultiLSTM(3, 3),
            {"inputs": TIME_MAJOR, "initial_c_and_h_states": C_AND_H},
            "expected a Tuple of 3 Tuples of c and h, one per layer",
        ),
    ],
)
def test_wrong_spaces(layer, spaces, message):
    with pytest.raises(SpaceError, match=message):
        ComponentTest(layer, spaces, backend="numpy")


def test_specs_name_them():
    assert isinstance(Component.from_spec({"type": "lstm", "units": 2}), LSTM)
    assert isinstance(Component.from_spec({"type": "gru", "units": 2}), GRU)
    assert isinstance(Component.from_spec({"type": "multi_lstm", "num_lstms": 2, "units": 2}), MultiLSTM)


class ThroughTime(Component):
    """What an LSTM returns after every step and after the last; its inputs and first states have derivatives, too."""

    def __init__(self):
        self.inputs, self.states = Dense(3, scope="inputs"), Dense(8, scope="states")
        self.lstm = LSTM(4, biases_spec={"type": "normal", "stddev": 0.5})
        super().__init__(self.inputs, self.states, self.lstm, scope="through-time")

    @rlgraph_api
    def derivatives(self, x, first, resets):
        inputs, states = self.inputs.call(x), self._halves(self.states.call(first))
        outputs, every = self.lstm.call(inputs, states, None, resets, every_step=True)
        _, last = self.lstm.call(inputs, states)
        loss = self._loss(outputs, every, last)
        return self._flat(loss, gradients(loss, self.variables()))

    @graph_fn(returns=2)
    def _halves(self, ops, states):
        return ops.tanh(states[:, :4]), ops.tanh(states[:, 4:])

    @graph_fn
    def _loss(self, ops, outputs, every, last):
        return sum(ops.sum(ops.sin((i + 1) * x)) for i, x in enumerate((outputs, *every, *last)))

    @graph_fn
    def _flat(self, ops, loss, found):
        return ops.concat([ops.reshape(x, (-1,)) for x in (loss, *found)])


def test_kernels_over_time_have_the_derivatives_of_the_single_source(trainer):
    rng, time = np.random.default_rng(0), {"add_batch_rank": True, "add_time_rank": True, "time_major": True}
    x, first, resets = rng.normal(size=(5, 3, 2)), rng.normal(size=(3, 2)), rng.random((5, 3)) < 0.3
    spaces = {"x": FloatBox(shape=(2,), **time), "first": FloatBox(shape=(2,), add_batch_rank=True)}
    found = [
        ComponentTest(
            ThroughTime(),
            {**spaces, "resets": BoolBox(**time)},
            backend=trainer,
            execution_spec={"dtype": "float64", "use_kernels": use_kernels},
            seed=3,
        ).test("derivatives", x, first, resets)
        for use_kernels in (True, False)
    ]
    np.testing.assert_allclose(*found, rtol=1e-12, atol=1e-12)
    assert np.count_nonzero(found[0]) == found[0].size
