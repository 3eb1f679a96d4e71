"""Values of states and of the states that were reached, against loops in NumPy."""

import numpy as np
import pytest

from rlgraph.components import SharedValueFunctionPolicy, ValueFunction
from rlgraph.core import BuildError
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest
from rlgraph.testing.observation_parts import ObservationParts

STEPS, BATCH, SIZE, UNITS = 5, 3, 2, 4
STATE = FloatBox(shape=(SIZE,), add_batch_rank=True)
RESET = BoolBox(add_batch_rank=True)
RNG = np.random.default_rng(7)
X, REACHED = RNG.normal(size=(2, STEPS, BATCH, SIZE)).astype(np.float32)
C, H = RNG.normal(size=(2, BATCH, UNITS)).astype(np.float32)
RESETS = np.array([[0, 1, 0], [0, 0, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0]], bool)
METHOD = "get_values_of_transitions"
MAJOR = pytest.mark.parametrize("time_major", [False, True])


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def one_step(w, x, c, h):
    """The value of a state, and the states of the LSTM after it."""
    z = x @ w["network/lstm/weights"] + w["network/lstm/biases"] + h @ w["network/lstm/recurrent_weights"]
    i, f, g, o = np.split(z, 4, axis=1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    h = sigmoid(o) * np.tanh(c)
    return (h @ w["value-layer/weights"] + w["value-layer/biases"])[:, 0], c, h


def by_loops(w, c, h, resets=RESETS):
    """``V(s_t)`` and ``V(s_t+1)``: what comes after a step is valued from its states, whatever is reset later."""
    values, next_values = [], []
    for x, reached, reset in zip(X, REACHED, resets, strict=True):
        c, h = (np.where(reset[:, None], 0.0, s) for s in (c, h))
        value, c, h = one_step(w, x, c, h)
        values.append(value)
        next_values.append(one_step(w, reached, c, h)[0])
    return np.stack(values), np.stack(next_values)


def recurrent(kind):
    network = [{"type": "lstm", "units": UNITS, "scope": "lstm"}]
    if kind is ValueFunction:
        return kind(network, scope="own")
    policy = kind(network, IntBox(2), scope="own")
    policy.switched_off_apis = frozenset({"get_log_likelihood", "get_log_likelihood_per_part"})
    return policy


def weights(test):
    return {name.partition("/")[2]: value for name, value in test.read_variable_values().items()}


@MAJOR
@pytest.mark.parametrize("kind", [ValueFunction, SharedValueFunctionPolicy])
def test_of_sequences(kind, time_major, backend):
    def given(array):
        return array if time_major else array.swapaxes(0, 1)

    component = recurrent(kind)
    in_time = Dict(states=STATE, resets=RESET).with_extra_ranks(True, True, time_major)
    spaces = {
        **in_time,
        "next_observations": in_time["states"],
        "internal_states": component.internal_states_space,
    }
    test = ComponentTest(ObservationParts(component), spaces, backend=backend)
    found = test.test(
        (
            METHOD,
            {
                "states": given(X),
                "next_observations": given(REACHED),
                "resets": given(RESETS),
                "internal_states": {"own": {"lstm": (C, H)}},
            },
        )
    )
    values, next_values = by_loops(weights(test), C, H)
    np.testing.assert_allclose(found["state_values"], given(values), atol=1e-5)
    np.testing.assert_allclose(found["next_state_values"], given(next_values), atol=1e-5)


@MAJOR
def test_without_states_they_are_zero(time_major):
    in_time = STATE.with_extra_ranks(True, True, time_major)
    spaces = {"observations": in_time, "next_observations": in_time}
    test = ComponentTest(recurrent(ValueFunction), spaces, backend="numpy")
    x, reached = (array if time_major else array.swapaxes(0, 1) for array in (X, REACHED))
    found = test.test((METHOD, [x, reached]))
    zeros = np.zeros((BATCH, UNITS))
    expected = by_loops(test.read_variable_values(), zeros, zeros, np.zeros_like(RESETS))
    for name, values in zip(("state_values", "next_state_values"), expected, strict=True):
        np.testing.assert_allclose(found[name], values if time_major else values.T, atol=1e-5)


def test_of_single_steps(backend):
    component = recurrent(ValueFunction)
    spaces = {"observations": {"states": STATE, "resets": RESET}, "next_observations": STATE}
    test = ComponentTest(component, spaces, backend=backend)
    w = test.read_variable_values()
    found = test.test((METHOD, [{"states": X[0], "resets": RESETS[0]}, REACHED[0]]))
    value, c, h = one_step(w, X[0], np.zeros((BATCH, UNITS)), np.zeros((BATCH, UNITS)))
    np.testing.assert_allclose(found["state_values"], value, atol=1e-5)
    np.testing.assert_allclose(found["next_state_values"], one_step(w, REACHED[0], c, h)[0], atol=1e-5)


def test_without_memory_next_states_are_valued_alone(backend):
    in_time = STATE.with_extra_ranks(True, True, True)
    spaces = {"observations": in_time, "next_observations": {"states": in_time}}
    test = ComponentTest(ValueFunction([{"type": "dense", "units": 3}]), spaces, backend=backend)
    found = test.test((METHOD, [X, {"states": REACHED}]))
    for name, states in (("state_values", X), ("next_state_values", REACHED)):
        alone = test.test(("get_state_values", [states]))["state_values"]
        np.testing.assert_allclose(found[name], alone, atol=1e-6)


def test_parts_of_a_state():
    """Parts are folded and unfolded as one state."""
    network = {
        "type": "multi_input_stream_network",
        "input_network_specs": {key: [{"type": "dense", "units": 2}] for key in ("states", "camera")},
        "post_network_spec": [{"type": "lstm", "units": UNITS, "scope": "lstm"}],
    }
    component = ValueFunction(network, scope="own")
    state = Dict(states=STATE, camera=STATE).with_extra_ranks(True, True, True)
    spaces = {"states": state, "next_observations": Dict(states=state)}
    test = ComponentTest(ObservationParts(component), spaces, backend="numpy")
    given = {
        "states": {"states": X, "camera": X},
        "next_observations": {"states": {"states": REACHED, "camera": X}},
    }
    found = test.test((METHOD, given))
    assert found["state_values"].shape == found["next_state_values"].shape == (STEPS, BATCH)
    # The same value as of a sequence of two.
    pair = {key: np.stack([X[0], reached]) for key, reached in (("states", REACHED[0]), ("camera", X[0]))}
    whole = test.test((METHOD, {"states": pair, "next_observations": {"states": pair}}))
    np.testing.assert_allclose(found["next_state_values"][0], whole["state_values"][1], atol=1e-6)


def test_states_of_other_ranks():
    spaces = {"observations": STATE.with_extra_ranks(True, True), "next_observations": STATE}
    with pytest.raises(
        (BuildError, SpaceError), match="next_observations: expected states with the ranks of"
    ):
        ComponentTest(ValueFunction([{"type": "dense", "units": 3}]), spaces, backend="numpy")
