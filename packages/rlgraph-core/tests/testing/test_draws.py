"""Recorded draws, replayed on another backend."""

import numpy as np
import pytest

from rlgraph.components import Adam, Dense
from rlgraph.core import Component, GraphExecutor, RLGraphError, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox
from rlgraph.testing import record_draws, replay_draws

SPACES = {"x": FloatBox(shape=(3,), add_batch_rank=True)}


class Noisy(Component):
    """Every kind of draw, used by number."""

    @rlgraph_api
    @graph_fn(returns=2)
    def call(self, ops, x):
        n = ops.shape(x)[0]
        order = ops.random_permutation(n)
        logits = ops.take(x, order) + ops.random_normal(ops.shape(x)) + ops.random_uniform((n, 1))
        chosen = ops.take(ops.random_categorical(logits), ops.random_integers((n,), 0, n))
        kept = ops.random_bernoulli(ops.sigmoid(logits))
        return ops.where(kept, logits, ops.random_truncated_normal((n, 3))), chosen


class Learner(Component):
    """Regression on shuffled, noisy rows."""

    def __init__(self):
        self.layer, self.noise, self.adam = Dense(1, scope="layer"), Noisy(scope="noise"), Adam(0.1)
        super().__init__(self.layer, self.noise, self.adam, scope="learner")

    @rlgraph_api
    def learn(self, x):
        noisy, _ = self.noise.call(x)
        loss = self._loss(self.layer.call(noisy))
        self.adam.step(self.layer.variables(), loss)
        return loss

    @graph_fn
    def _loss(self, ops, y):
        return ops.mean(ops.square(y - 1.0))


def made(root, backend):
    return GraphExecutor(root, SPACES, backend=backend)


def test_backends_agree_on_the_same_draws(backend):
    x = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    for recorder, player in (("numpy", backend), (backend, "numpy")):
        one, two = made(Noisy(), recorder), made(Noisy(), player)
        draws = record_draws(one)
        first = [one.execute("call", x) for _ in range(3)]
        assert len(draws) == 21
        replay_draws(two, draws)
        for expected in first:
            given = two.execute("call", x)
            np.testing.assert_allclose(given[0], expected[0], rtol=1e-5)
            np.testing.assert_array_equal(given[1], expected[1])


def test_training_on_the_same_draws(trainer):
    x = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    reference = made(Noisy(scope="noise"), "numpy")
    draws = record_draws(reference)
    noisy, _ = reference.execute("call", x)
    executor = made(Learner(), trainer)
    replay_draws(executor, draws)
    weights = executor.get_weights()
    loss = executor.execute("learn", x)
    values = noisy @ weights["layer/weights"] + weights["layer/biases"]
    np.testing.assert_allclose(loss, np.mean((values - 1.0) ** 2), rtol=1e-5)


def test_draws_that_do_not_fit(backend):
    x = np.zeros((5, 3), np.float32)
    executor = made(Noisy(), backend)
    replay_draws(executor, [np.arange(5), np.zeros((4, 3), np.float32)])
    with pytest.raises(
        Exception, match=r"draw 1: the program draws float32\[5, 3\], recorded is float32\[4, 3\]"
    ):
        executor.execute("call", x)
    executor = made(Noisy(), backend)
    replay_draws(executor, [np.arange(5)])
    with pytest.raises(Exception, match="fewer recorded draws than the program makes"):
        executor.execute("call", x)


def test_programs_that_stand_already():
    executor = made(Noisy(), "numpy")
    executor.execute("call", np.zeros((5, 3), np.float32))
    with pytest.raises(RLGraphError, match=r"\['call'\] have run already: tap a new executor"):
        record_draws(executor)
