import math

import numpy as np
import pytest
from scipy import stats

from rlgraph.components import NoisyDense
from rlgraph.core import Component, SpecError, rlgraph_api
from rlgraph.core.graph.trace import updating
from rlgraph.spaces import FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest, record_draws, replay_draws

INPUTS = {"inputs": FloatBox(shape=(3,), add_batch_rank=True)}
X = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)


def by_hand(x, values, draws, noise):
    """Fortunato et al. (2018), eqs. 9 to 11, one product after the other."""
    weights, biases = values["noisy-dense/weights"], values["noisy-dense/biases"]
    result = np.empty((len(x), len(biases)))

    def f(e):
        return math.copysign(math.sqrt(abs(e)), e)

    for b, j in np.ndindex(result.shape):
        e = draws[1][j] if noise == "independent" else f(draws[1][j])
        total = biases[j] + values["noisy-dense/biases_sigma"][j] * e
        for i in range(len(weights)):
            e = draws[0][i, j] if noise == "independent" else f(draws[0][i]) * f(draws[1][j])
            total += x[b, i] * (weights[i, j] + values["noisy-dense/weights_sigma"][i, j] * e)
        result[b, j] = total
    return result


@pytest.mark.parametrize("noise", ["factorised", "independent"])
def test_noise_of_each_call(noise, backend):
    test = ComponentTest(NoisyDense(2, noise=noise, sigma=0.7), INPUTS, backend=backend)
    draws, values = record_draws(test.executor), test.read_variable_values()
    shapes = [(3,), (2,)] if noise == "factorised" else [(3, 2), (2,)]
    for call in range(2):
        given = test.test("call", X)
        drawn = draws[2 * call : 2 * call + 2]
        assert [draw.shape for draw in drawn] == shapes
        np.testing.assert_allclose(given, by_hand(X, values, drawn, noise), atol=1e-5)
    assert not np.array_equal(draws[0], draws[2])
    reference = ComponentTest(NoisyDense(2, noise=noise, sigma=0.7), INPUTS, backend="numpy")
    replay_draws(reference.executor, draws)
    reference.test("call", X, expected_outputs=by_hand(X, values, draws[:2], noise), decimals=5)


class UpdateOfTwo(Component):
    def __init__(self):
        self.layer = NoisyDense(2, sigma=0.7)
        super().__init__(self.layer, scope="update")

    @rlgraph_api(returns=2)
    def update(self, inputs):
        with updating(True):
            return self.layer.call(inputs, True), self.layer.call(inputs, True)


def test_equal_calls_of_an_update_have_noise_of_their_own(backend):
    """Unlike those of dropout, which an update shares."""
    one, other = ComponentTest(UpdateOfTwo(), INPUTS, backend=backend).test("update", X)
    assert not np.isclose(one, other).any()


@pytest.mark.parametrize("noise", ["factorised", "independent"])
def test_noise_on_request(noise, backend):
    test = ComponentTest(NoisyDense(2, noise=noise, noise_per_call=False), INPUTS, backend=backend)
    results = []
    for _ in range(2):
        values = test.read_variable_values()
        drawn = [values[f"noisy-dense/noise_{i}"] for i in range(2)]
        results.append(test.test("call", X, expected_outputs=by_hand(X, values, drawn, noise), decimals=5))
        test.test("call", X, expected_outputs=results[-1])
        test.test("resample_noise")
    assert not np.allclose(*results)
    assert not any("noise_" in name for name in test.executor.get_weights(trainable_only=True))


@pytest.mark.parametrize("noise_per_call", [True, False])
def test_without_noise(noise_per_call, backend):
    layer = NoisyDense(2, "tanh", noise_per_call=noise_per_call, scope="n")
    test = ComponentTest(layer, INPUTS, backend=backend)
    values = test.read_variable_values()
    assert ("resample_noise" in test.executor.methods) is not noise_per_call
    zero = {name: np.zeros_like(value) for name, value in values.items() if name.endswith("_sigma")}
    test.executor.set_weights(zero)
    expected = np.tanh(X @ values["n/weights"] + values["n/biases"])
    test.test("call", X, expected_outputs=expected, decimals=5)


class Evaluated(Component):
    def __init__(self):
        self.layer = NoisyDense(2, scope="n")
        super().__init__(self.layer, scope="evaluated")

    @rlgraph_api
    def call(self, x):
        return self.layer.call(x, training=False)


def test_evaluation(backend):
    test = ComponentTest(Evaluated(), {"x": INPUTS["inputs"]}, backend=backend)
    values = test.read_variable_values()
    test.test("call", X, expected_outputs=X @ values["n/weights"] + values["n/biases"], decimals=5)


@pytest.mark.parametrize("noise", ["factorised", "independent"])
def test_evaluation_by_data(noise, backend):
    layer = NoisyDense(2, noise=noise, sigma=1.0, scope="n")
    test = ComponentTest(layer, {**INPUTS, "training": bool}, backend=backend)
    values = test.read_variable_values()
    plain = X @ values["n/weights"] + values["n/biases"]
    test.test("call", X, False, expected_outputs=plain, decimals=5)
    assert np.abs(test.test("call", X, True) - plain).max() > 1e-3


def test_resampled_noise_is_standard(backend):
    layer = NoisyDense(40, noise="independent", noise_per_call=False, scope="n")
    space = {"inputs": FloatBox(shape=(50,), add_batch_rank=True)}
    test = ComponentTest(layer, space, backend=backend)
    test.test("resample_noise")
    noise = test.read_variable_values("n/noise_0", "n/noise_1")
    for values in noise.values():
        assert stats.kstest(values.reshape(-1), stats.norm.cdf).pvalue > 0.01


def test_the_noise_is_standard():
    """Of independent noise at sigma 1, mean 0: outputs of x = 1 are normal with variance 1 + 1."""
    layer = NoisyDense(500, noise="independent", sigma=1.0, scope="n")
    space = {"inputs": FloatBox(shape=(1,), add_batch_rank=True)}
    test = ComponentTest(layer, space, backend="numpy")
    test.executor.set_weights({"n/weights": np.zeros((1, 500)), "n/biases": np.zeros(500)})
    given = test.test("call", [[1.0]])[0]
    assert stats.kstest(given, stats.norm(0.0, math.sqrt(2.0)).cdf).pvalue > 0.01


@pytest.mark.parametrize(
    ("options", "limit", "sigma"),
    [
        ({}, math.sqrt(1 / 100), 0.5 / math.sqrt(100)),
        ({"sigma": 0.4}, math.sqrt(1 / 100), 0.4 / math.sqrt(100)),
        ({"noise": "independent"}, math.sqrt(3 / 100), 0.017),
    ],
)
def test_starting_values(options, limit, sigma):
    """Fortunato et al. (2018), section 3.2."""
    space = {"inputs": FloatBox(shape=(100,), add_batch_rank=True)}
    values = ComponentTest(
        NoisyDense(50, **options, scope="n"), space, backend="numpy"
    ).read_variable_values()
    for name, shape in {"weights": (100, 50), "biases": (50,)}.items():
        assert values[f"n/{name}"].shape == values[f"n/{name}_sigma"].shape == shape
        np.testing.assert_allclose(values[f"n/{name}_sigma"], sigma, rtol=1e-6)
        uniform = stats.uniform(-limit, 2 * limit)
        assert stats.kstest(values[f"n/{name}"].reshape(-1), uniform.cdf).pvalue > 0.01


def test_items_and_steps_share_the_noise(backend):
    space = {"inputs": FloatBox(shape=(3,), add_batch_rank=True, add_time_rank=True)}
    given = ComponentTest(NoisyDense(2, sigma=2.0), space, backend=backend).test(
        "call", np.ones((4, 5, 3), np.float32)
    )
    assert given.shape == (4, 5, 2)
    np.testing.assert_allclose(given, np.broadcast_to(given[0, 0], (4, 5, 2)), rtol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"units": 0}, "noisy-dense.units: expected an integer >= 1, given 0"),
        ({"units": 2, "noise": "factorized"}, "unknown noise 'factorized'. Did you mean 'factorised'?"),
        ({"units": 2, "sigma": -1.0}, "noisy-dense.sigma: expected a number >= 0, given -1.0"),
        ({"units": 2, "activation": "rleu"}, "Did you mean 'relu'?"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(SpecError) as error:
        NoisyDense(**arguments)
    assert message in str(error.value)


def test_wrong_inputs():
    with pytest.raises(SpaceError, match="noisy-dense/inputs: expected a FloatBox of rank 1 with batch rank"):
        ComponentTest(NoisyDense(2), {"inputs": IntBox(3, add_batch_rank=True)}, backend="numpy")
    spaces = {"inputs": FloatBox(shape=(2,), add_batch_rank=True), "training": float}
    with pytest.raises(SpaceError, match=r"noisy-dense/training: expected BoolBox\(\)"):
        ComponentTest(NoisyDense(2), spaces, backend="numpy")
