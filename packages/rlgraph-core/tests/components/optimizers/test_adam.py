import math

import numpy as np
import pytest

from rlgraph.components import Adam, NeuralNetwork
from rlgraph.core import (
    CapabilityError,
    Component,
    GraphExecutor,
    SpecError,
    graph_fn,
    rlgraph_api,
)
from rlgraph.spaces import FloatBox

X = FloatBox(shape=(3,), add_batch_rank=True)
Y = FloatBox(shape=(2,), add_batch_rank=True)


class Learner(Component):
    """A linear map, its squared error and its optimizer."""

    def __init__(self, **options):
        self.net = NeuralNetwork([{"type": "dense", "units": 2, "scope": "map"}], scope="net")
        self.adam = Adam(scope="adam", **options)
        super().__init__(self.net, self.adam, scope="learner")

    @rlgraph_api
    def learn(self, x, y):
        loss = self._loss(self.net.call(x), y)
        self.adam.step(self.net.variables(), loss)
        return loss

    @graph_fn
    def _loss(self, ops, prediction, y):
        return ops.mean(ops.square(prediction - y))


def gradients_by_hand(w, b, x, y):
    """Of the mean of (x w + b - y)^2 over batch and units."""
    dw, db, loss = np.zeros_like(w), np.zeros_like(b), 0.0
    n = y.size
    for row in range(len(x)):
        for unit in range(w.shape[1]):
            error = sum(x[row, i] * w[i, unit] for i in range(w.shape[0])) + b[unit] - y[row, unit]
            loss += error * error / n
            db[unit] += 2 * error / n
            for i in range(w.shape[0]):
                dw[i, unit] += 2 * error * x[row, i] / n
    return loss, [dw, db]


class AdamByHand:
    """Kingma and Ba (2015), Algorithm 1, element by element; Pascanu et al. (2013), Algorithm 1, as torch has it."""

    def __init__(self, shapes, lr=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, clip=None):
        self.lr, self.beta1, self.beta2, self.epsilon, self.clip = lr, beta1, beta2, epsilon, clip
        self.m, self.v = ([np.zeros(shape) for shape in shapes] for _ in range(2))
        self.t = 0

    def step(self, values, gradients):
        self.t += 1
        if self.clip is not None:
            norm = math.sqrt(sum(float(g) ** 2 for gradient in gradients for g in gradient.reshape(-1)))
            gradients = [gradient * min(1.0, self.clip / (norm + 1e-6)) for gradient in gradients]
        for value, gradient, m, v in zip(values, gradients, self.m, self.v, strict=True):
            for i in np.ndindex(value.shape):
                m[i] = self.beta1 * m[i] + (1 - self.beta1) * gradient[i]
                v[i] = self.beta2 * v[i] + (1 - self.beta2) * gradient[i] ** 2
                m_hat, v_hat = m[i] / (1 - self.beta1**self.t), v[i] / (1 - self.beta2**self.t)
                value[i] -= self.lr * m_hat / (math.sqrt(v_hat) + self.epsilon)


CASES = {
    "default": ({}, {}),
    "options": ({"learning_rate": 0.05, "beta1": 0.8, "beta2": 0.9, "epsilon": 1e-3},) * 2,
    "clipped": ({"learning_rate": 0.05, "clip_grad_norm": 0.3}, {"lr": 0.05, "clip": 0.3}),
    "within the limit": ({"learning_rate": 0.05, "clip_grad_norm": 1e3}, {"lr": 0.05, "clip": 1e3}),
}
CASES["options"] = (CASES["options"][0], {"lr": 0.05, "beta1": 0.8, "beta2": 0.9, "epsilon": 1e-3})


@pytest.mark.parametrize("use_kernels", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", CASES)
def test_thirty_steps(case, dtype, use_kernels, trainer):
    options, by_hand = CASES[case]
    made = GraphExecutor(
        Learner(**options),
        {"x": X, "y": Y},
        backend=trainer,
        execution_spec={"dtype": dtype, "use_kernels": use_kernels},
    )
    weights = made.get_weights()
    values = [weights["net/map/weights"].astype(float), weights["net/map/biases"].astype(float)]
    reference = AdamByHand([value.shape for value in values], **by_hand)
    rng = np.random.default_rng(0)
    tolerance = {"rtol": 1e-10, "atol": 1e-12} if dtype == "float64" else {"rtol": 2e-4, "atol": 2e-6}
    for step in range(30):
        x, y = rng.normal(size=(4, 3)).astype(dtype), rng.normal(size=(4, 2)).astype(dtype) * 3
        loss, gradients = gradients_by_hand(*values, x.astype(float), y.astype(float))
        np.testing.assert_allclose(made.execute("learn", x, y), loss, **tolerance)
        reference.step(values, gradients)
        if step in (0, 29):
            given = made.get_weights()
            for name, value in (("net/map/weights", values[0]), ("net/map/biases", values[1])):
                np.testing.assert_allclose(given[name], value, **tolerance)
            np.testing.assert_allclose(
                given["adam/first_moments/net/map/weights"], reference.m[0], **tolerance
            )
            np.testing.assert_allclose(
                given["adam/second_moments/net/map/biases"], reference.v[1], **tolerance
            )
            assert float(given["adam/steps"]) == step + 1


def test_the_first_step_is_the_learning_rate(trainer):
    """Whatever the size of the gradient: m_hat / sqrt(v_hat) is its sign."""
    made = GraphExecutor(Learner(learning_rate=0.01), {"x": X, "y": Y}, backend=trainer)
    before = made.get_weights()
    made.execute("learn", np.full((1, 3), 100.0), np.full((1, 2), -1e4))
    after = made.get_weights()
    for name in ("net/map/weights", "net/map/biases"):
        np.testing.assert_allclose(np.abs(after[name] - before[name]), 0.01, rtol=1e-3)


def test_forward_only_backends():
    made = GraphExecutor(Learner(), {"x": X, "y": Y}, backend="numpy")
    with pytest.raises(CapabilityError, match="'learn' needs gradients; the numpy backend is forward only"):
        made.execute("learn", np.zeros((1, 3)), np.zeros((1, 2)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learning_rate": -1.0}, "optimizer.learning_rate: expected a number >= 0, given -1.0"),
        ({"learning_rate": "fast"}, "optimizer.learning_rate: expected a number, [from, to], "),
        (
            {"learning_rate": [1e-3, -1e-3]},
            "optimizer.learning_rate: expected a number >= 0, given [0.001, -0.001]",
        ),
        ({"beta1": 1.0}, "optimizer.beta1: expected a number in [0, 1), given 1.0"),
        ({"beta2": -0.1}, "optimizer.beta2: expected a number in [0, 1), given -0.1"),
        ({"clip_grad_norm": 0}, "optimizer.clip_grad_norm: expected a number > 0, or None, given 0"),
        ({"clip_grad_norm": "big"}, "optimizer.clip_grad_norm: expected a number > 0, or None, given 'big'"),
        ({"epsilon": "small"}, "optimizer.epsilon: expected a number >= 0, given 'small'"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(SpecError) as error:
        Adam(**options)
    assert message in str(error.value)


class Two(Component):
    """Two networks and two optimizers: one steps both networks, the other only the second."""

    def __init__(self, frozen=False):
        self.a = NeuralNetwork([{"type": "dense", "units": 2, "scope": "a"}], scope="net-a")
        self.b = NeuralNetwork(
            [{"type": "dense", "units": 2, "scope": "b"}], scope="net-b", trainable=not frozen
        )
        self.c = NeuralNetwork([{"type": "dense", "units": 2, "scope": "c"}], scope="net-c")
        self.outer = _Pair(self.a, self.c)
        self.first, self.second = Adam(0.1, scope="first"), Adam(0.2, scope="second")
        super().__init__(self.outer, self.b, self.first, self.second, scope="two")

    @rlgraph_api
    def learn_a(self, x, y):
        self.first.step(self.a.variables(), self._loss(self.b.call(self.a.call(x)), y))

    @rlgraph_api
    def learn_ac(self, x, y):
        self.second.step(self.outer.variables(), self._loss(self.outer.call(x), y))

    @graph_fn
    def _loss(self, ops, prediction, y):
        return ops.mean(ops.square(prediction - y))


class _Pair(Component):
    def __init__(self, a, c):
        self.a, self.c = a, c
        super().__init__(a, c, scope="pair")

    @rlgraph_api
    def call(self, x):
        return self._add(self.a.call(x), self.c.call(x))

    @graph_fn
    def _add(self, ops, a, c):
        return a + c


@pytest.mark.parametrize("use_kernels", [True, False])
def test_optimizers_that_share_some_variables(use_kernels, trainer):
    """The buffers of `a` and `c` differ in who steps them: lists fall into blocks, and every block keeps its own."""
    spec = {"dtype": "float64", "use_kernels": use_kernels}
    made = GraphExecutor(Two(frozen=True), {"x": X, "y": Y}, backend=trainer, execution_spec=spec)
    w = {name: value.astype(float) for name, value in made.get_weights().items()}
    names_a = ["pair/net-a/a/weights", "pair/net-a/a/biases"]
    names_ac = [*names_a, "pair/net-c/c/weights", "pair/net-c/c/biases"]
    first = AdamByHand([w[name].shape for name in names_a], lr=0.1)
    second = AdamByHand([w[name].shape for name in names_ac], lr=0.2)
    rng = np.random.default_rng(3)
    frozen = [name for name in w if name.startswith("net-b")]
    assert frozen
    for _ in range(5):
        x, y = rng.normal(size=(4, 3)), rng.normal(size=(4, 2))
        made.execute("learn_ac", x, y)
        # y_hat = x (Wa + Wc) + ba + bc: the gradients by both are the same.
        _, (dw, db) = gradients_by_hand(
            w["pair/net-a/a/weights"] + w["pair/net-c/c/weights"],
            w["pair/net-a/a/biases"] + w["pair/net-c/c/biases"],
            x,
            y,
        )
        second.step([w[name] for name in names_ac], [dw, db, dw, db])
        made.execute("learn_a", x, y)
        # y_hat = (x Wa + ba) Wb + bb, with b frozen.
        hidden = x @ w["pair/net-a/a/weights"] + w["pair/net-a/a/biases"]
        error = 2 * (hidden @ w["net-b/b/weights"] + w["net-b/b/biases"] - y) / y.size
        back = error @ w["net-b/b/weights"].T
        first.step([w[name] for name in names_a], [x.T @ back, back.sum(axis=0)])
    given = made.get_weights()
    for name in [*names_ac, *frozen]:
        np.testing.assert_allclose(given[name], w[name], rtol=1e-9, atol=1e-12, err_msg=name)


def test_names_of_other_libraries():
    with pytest.raises(SpecError, match=r"Adam.lr: Adam has no such key. It is 'learning_rate' here"):
        Adam(lr=1e-3)
    with pytest.raises(SpecError, match=r"Adam.eps: Adam has no such key. It is 'epsilon' here"):
        Adam.from_spec({"type": "adam", "eps": 1e-3})
