"""A variational auto-encoder against its formulas."""

import numpy as np
import pytest
from scipy import stats

from rlgraph.components import Adam, VariationalAutoEncoder
from rlgraph.core import Component, RLGraphError, SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox, IntBox, SpaceError
from rlgraph.testing import ComponentTest

RNG = np.random.default_rng(0)
SPACES = {"inputs": FloatBox(shape=(4,), add_batch_rank=True), "z": FloatBox(shape=(2,), add_batch_rank=True)}
ENCODER = [{"type": "dense", "units": 5, "activation": "tanh"}]
DECODER = [{"type": "dense", "units": 4}]


def auto_encoder(**options):
    return VariationalAutoEncoder(2, ENCODER, DECODER, **options)


def dense(x, values, scope):
    return x @ values[f"{scope}/weights"] + values[f"{scope}/biases"]


def expected_codes(x, values):
    hidden = np.tanh(dense(x, values, "encoder/dense-0"))
    return dense(hidden, values, "mean"), dense(hidden, values, "log-variance")


def test_means(backend):
    test = ComponentTest(auto_encoder(), SPACES, backend=backend)
    values, x = test.read_variable_values(), RNG.standard_normal((3, 4)).astype("float32")
    mean, log_variance = expected_codes(x, values)
    expected = {"mean": mean, "log_variance": log_variance, "z": None}
    found = test.test(("encode", [x]), expected_outputs=expected, decimals=5)
    decoded = dense(found["z"], values, "decoder/dense-0")
    test.test(("decode", [found["z"]]), expected_outputs=decoded, decimals=5)


def test_codes_are_drawn(backend):
    test = ComponentTest(auto_encoder(), SPACES, backend=backend)
    x = np.repeat(RNG.standard_normal((1, 4)).astype("float32"), 4000, axis=0)
    found = test.test(("encode", [x]))
    noise = (found["z"] - found["mean"]) / np.exp(0.5 * found["log_variance"])
    for column in noise.T:
        assert stats.kstest(column, "norm").pvalue > 1e-3
    assert np.any(test.test(("encode", [x]))["z"] != found["z"])


class Deterministic(Component):
    """The code is the mean."""

    def __init__(self, **options):
        self.model = auto_encoder(**options)
        super().__init__(self.model, scope="deterministic")

    @rlgraph_api
    def run(self, inputs):
        return (
            self.model.call(inputs, True),
            self.model.encode(inputs, True),
            self.model.get_elbo(inputs, True),
        )


@pytest.mark.parametrize("likelihood", ["normal", "bernoulli"])
def test_the_bound(likelihood, backend):
    options = {"stddev": 0.5} if likelihood == "normal" else {}
    model = Deterministic(likelihood=likelihood, beta=2.0, **options)
    test = ComponentTest(model, {"inputs": SPACES["inputs"]}, backend=backend)
    values = {k.removeprefix("model/"): v for k, v in test.read_variable_values().items()}
    values = {k.removeprefix("variational-auto-encoder/"): v for k, v in values.items()}
    x = RNG.integers(0, 2, (3, 4)).astype("float32")
    mean, log_variance = expected_codes(x, values)
    decoded = dense(mean, values, "decoder/dense-0")
    if likelihood == "normal":
        log_likelihood = stats.norm(decoded, 0.5).logpdf(x).sum(-1)
    else:
        log_likelihood = stats.bernoulli(1.0 / (1.0 + np.exp(-decoded))).logpmf(x).sum(-1)
    kl = 0.5 * (mean**2 + np.exp(log_variance) - log_variance - 1.0).sum(-1)
    elbo = {"elbo": log_likelihood - 2.0 * kl, "log_likelihood": log_likelihood, "kl_divergence": kl}
    encoded = {"mean": mean, "log_variance": log_variance, "z": mean}
    test.test(("run", [x]), expected_outputs=(decoded, encoded, elbo), decimals=4)


@pytest.mark.parametrize("likelihood", ["normal", "bernoulli"])
def test_images(likelihood, backend):
    """The likelihood is summed over all axes of an image."""
    model = VariationalAutoEncoder(
        1,
        [{"type": "reshape", "flatten": True}],
        [
            {"type": "dense", "units": 6, "weights_spec": 0.0, "biases_spec": 1.0},
            {"type": "reshape", "new_shape": [2, 3]},
        ],
        likelihood=likelihood,
    )
    spaces = {
        "inputs": FloatBox(shape=(2, 3), add_batch_rank=True),
        "z": FloatBox(shape=(1,), add_batch_rank=True),
    }
    test = ComponentTest(model, spaces, backend=backend)
    of_pixel = {"normal": stats.norm(1.0).logpdf(0.0), "bernoulli": stats.logistic.logsf(1.0)}[likelihood]
    test.test(
        ("get_elbo", [np.zeros((5, 2, 3), "float32")]),
        which="log_likelihood",
        expected_outputs=np.full(5, 6 * of_pixel),
        decimals=5,
    )


class Learner(Component):
    """A model and its optimizer."""

    def __init__(self, model):
        self.model, self.optimizer = model, Adam(0.02)
        super().__init__(self.model, self.optimizer, scope="learner")

    @rlgraph_api
    def update(self, inputs):
        loss = self._loss(self.model.get_elbo(inputs)["elbo"])
        return self.optimizer.step(self.model.variables(), loss), loss

    @graph_fn
    def _loss(self, ops, elbo):
        return -ops.mean(elbo)


@pytest.mark.parametrize("seed", [1, 2])
def test_it_learns_a_line(seed, trainer):
    """Points on a line with little noise: the bound comes near the entropy of their distribution.

    All layers are linear, as the true posterior is.
    """
    rng = np.random.default_rng(seed)
    direction, noise = np.array([1.0, -1.0, 0.5, 2.0]), 0.5
    model = VariationalAutoEncoder(2, [{"type": "dense", "units": 5}], DECODER, stddev=noise)
    test = ComponentTest(Learner(model), {"inputs": SPACES["inputs"]}, backend=trainer, seed=seed)

    def points(number):
        return (
            rng.standard_normal((number, 1)) * direction + noise * rng.standard_normal((number, 4))
        ).astype("float32")

    losses = [float(test.test(("update", [points(64)]))[1]) for _ in range(600)]
    covariance = np.outer(direction, direction) + noise**2 * np.eye(4)
    entropy = stats.multivariate_normal(np.zeros(4), covariance).entropy()
    assert losses[0] > entropy + 3.0
    assert entropy - 0.15 < np.mean(losses[-50:]) < entropy + 0.6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"z_units": 0}, "z_units: expected an integer >= 1, given 0"),
        ({"likelihood": "norml"}, "likelihood: unknown 'norml'. Did you mean 'normal'"),
        ({"stddev": 0.0}, "stddev: expected a number > 0, given 0.0"),
        ({"stddev": float("inf")}, "stddev: expected a number > 0, given inf"),
        ({"beta": "high"}, "beta: expected a number, given 'high'"),
        ({"beta": -1}, "beta: expected a number >= 0, given -1"),
        ({"encoder_network_spec": []}, "encoder_network_spec"),
        (
            {"decoder_network_spec": [{"type": "dense", "unts": 2}]},
            r"decoder_network_spec\[0\].unts: Dense has no such",
        ),
    ],
)
def test_wrong_specs(options, message):
    spec = {"z_units": 2, "encoder_network_spec": ENCODER, "decoder_network_spec": DECODER, **options}
    with pytest.raises(SpecError, match=message):
        VariationalAutoEncoder.from_spec(spec, path="vae")


def test_wrong_spaces():
    with pytest.raises(SpaceError, match="inputs: expected a FloatBox, given IntBox.*convert_type"):
        ComponentTest(
            auto_encoder(), {**SPACES, "inputs": IntBox(3, shape=(4,), add_batch_rank=True)}, backend="numpy"
        )
    short = VariationalAutoEncoder(2, ENCODER, [{"type": "dense", "units": 3}])
    with pytest.raises(
        (SpaceError, RLGraphError), match="decoder_network_spec: expected an output of the shape"
    ):
        ComponentTest(short, SPACES, backend="numpy")
