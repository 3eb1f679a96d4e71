import numpy as np
import pytest

from rlgraph.components import Dense, NeuralNetwork, Residual
from rlgraph.core import Component, SpecError
from rlgraph.spaces import FloatBox, SpaceError
from rlgraph.testing import ComponentTest

INPUTS = {"inputs": FloatBox(shape=(3,), add_batch_rank=True)}
X = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)


def dense(x, values, scope):
    return x @ values[f"{scope}/weights"] + values[f"{scope}/biases"]


def test_given_numbers(backend):
    """Each unit doubles: x + 2 * 2 * x."""
    layer = Residual({"type": "dense", "units": 2, "weights_spec": [[2.0, 0.0], [0.0, 2.0]]})
    test = ComponentTest(layer, {"inputs": FloatBox(shape=(2,), add_batch_rank=True)}, backend=backend)
    test.test("call", [[1.0, -3.0]], expected_outputs=[[5.0, -15.0]])


@pytest.mark.parametrize("repeats", [1, 2, 3])
@pytest.mark.parametrize("activation", [None, "tanh"])
def test_units_have_variables_of_their_own(repeats, activation, backend):
    layer = Residual({"type": "dense", "units": 3, "activation": "tanh"}, repeats, activation)
    test = ComponentTest(layer, INPUTS, backend=backend)
    values = test.read_variable_values()
    assert sorted(values) == [f"unit-{i}/{name}" for i in range(repeats) for name in ("biases", "weights")]
    hidden = X
    for i in range(repeats):
        hidden = np.tanh(dense(hidden, values, f"unit-{i}"))
    expected = np.tanh(X + hidden) if activation else X + hidden
    test.test("call", X, expected_outputs=expected, decimals=5)


@pytest.mark.parametrize(
    "unit",
    [
        [{"type": "dense", "units": 5}, {"type": "dense", "units": 3}],
        {"type": "network", "layers": [{"type": "dense", "units": 5}, {"type": "dense", "units": 3}]},
    ],
)
def test_units_of_several_layers(unit, backend):
    test = ComponentTest(Residual(unit, 1), INPUTS, backend=backend)
    values = test.read_variable_values()
    hidden = dense(dense(X, values, "unit-0/dense-0"), values, "unit-0/dense-1")
    test.test("call", X, expected_outputs=X + hidden, decimals=5)


def test_units_that_are_there_already(backend):
    test = ComponentTest(Residual(Dense(3, scope="mine"), 2), INPUTS, backend=backend)
    values = test.read_variable_values()
    assert sorted({name.split("/")[0] for name in values}) == ["mine", "mine-1"]
    expected = X + dense(dense(X, values, "mine"), values, "mine-1")
    test.test("call", X, expected_outputs=expected, decimals=5)


def test_sequences(backend):
    space = FloatBox(shape=(3,), add_batch_rank=True, add_time_rank=True)
    test = ComponentTest(Residual(Dense(3, scope="d"), 1), {"inputs": space}, backend=backend)
    x = np.stack([X, 2.0 * X])
    test.test("call", x, expected_outputs=x + dense(x, test.read_variable_values(), "d"), decimals=5)


def test_in_a_network():
    spec = {"type": "residual", "residual_unit": {"type": "dense", "units": 3}, "repeats": 1}
    network = NeuralNetwork([spec, spec])
    assert len(ComponentTest(network, INPUTS, backend="numpy").read_variable_values()) == 4
    assert isinstance(Component.from_spec(spec), Residual)


def test_wrong_arguments():
    with pytest.raises(SpecError, match=r"residual.repeats: expected an integer in \[1, 1000\], given 0"):
        Residual(Dense(3), 0)
    with pytest.raises(SpecError, match="residual.activation: unknown activation 'rleu'"):
        Residual(Dense(3), activation="rleu")
    with pytest.raises(
        SpecError, match=r"residual.residual_unit.unit: .* has no such key. Did you mean 'units'?"
    ):
        Residual({"type": "dense", "unit": 3})


@pytest.mark.parametrize("units", [1, 4])
def test_units_that_change_the_shape(units):
    with pytest.raises(SpaceError) as error:
        ComponentTest(Residual(Dense(units), 1), INPUTS, backend="numpy")
    assert (
        f"residual_unit: expected an output of the shape (3,) of its input, given FloatBox(shape=({units},)"
    ) in str(error.value)
