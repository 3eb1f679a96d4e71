import numpy as np
import pytest
from scipy import stats

from rlgraph.components import Dropout, NeuralNetwork
from rlgraph.core import Component, SpecError, gradients, graph_fn, rlgraph_api
from rlgraph.spaces import BoolBox, FloatBox, SpaceError
from rlgraph.testing import ComponentTest, record_draws, replay_draws

INPUTS = {"inputs": FloatBox(shape=(50,), add_batch_rank=True)}
TRAINING = {**INPUTS, "training": bool}


def test_nothing_out_of_training(backend):
    x = np.random.default_rng(0).normal(size=(4, 50)).astype(np.float32)
    ComponentTest(Dropout(0.9), INPUTS, backend=backend).test("call", x, expected_outputs=x)
    ComponentTest(Dropout(0.9), TRAINING, backend=backend).test("call", x, False, expected_outputs=x)


@pytest.mark.parametrize("rate", [0.0, 0.25, 0.8])
def test_training(rate, backend):
    test = ComponentTest(Dropout(rate), TRAINING, backend=backend)
    x = np.random.default_rng(0).uniform(1.0, 2.0, size=(40, 50)).astype(np.float32)
    first, second = (test.test("call", x, True) for _ in range(2))
    kept = first != 0.0
    np.testing.assert_allclose(first[kept], x[kept] / (1.0 - rate), rtol=1e-5)
    assert stats.binomtest(int(kept.sum()), kept.size, 1.0 - rate).pvalue > 0.01
    if rate:
        # Neither a whole item nor a whole feature is dropped, and the next call draws again.
        assert kept.any(axis=0).all() and kept.any(axis=1).all() and not kept.all(axis=0).any()
        assert (kept != (second != 0.0)).any()


def test_the_same_draws_give_the_same_everywhere(backend):
    x = np.random.default_rng(0).normal(size=(4, 50)).astype(np.float32)
    test = ComponentTest(Dropout(0.4), TRAINING, backend=backend)
    draws = record_draws(test.executor)
    expected = test.test("call", x, True)
    assert len(draws) == 1
    np.testing.assert_allclose(expected, np.where(draws[0] >= 0.4, x / 0.6, 0.0), rtol=1e-5)
    reference = ComponentTest(Dropout(0.4), TRAINING, backend="numpy")
    replay_draws(reference.executor, draws)
    reference.test("call", x, True, expected_outputs=expected, decimals=5)


class Wired(Component):
    """Training is decided by the API method."""

    def __init__(self):
        self.dropout = Dropout(0.5, scope="dropout")
        super().__init__(self.dropout, scope="wired")

    def create_variables(self, input_spaces, action_space=None):
        self.gains = self.get_variable("gains", FloatBox(shape=(50,)), initializer=1.0)

    @rlgraph_api
    def act(self, x):
        return self.dropout.call(self._scale(x))

    @rlgraph_api
    def learn(self, x):
        return self.dropout.call(self._scale(x), training=True)

    @rlgraph_api
    def slopes(self, x):
        outputs = self.dropout.call(self._scale(x), training=True)
        return outputs, self._list(gradients(self._sum(outputs), self.variables()))

    @graph_fn
    def _scale(self, ops, x):
        return x * self.gains

    @graph_fn
    def _sum(self, ops, outputs):
        return ops.sum(outputs)

    @graph_fn
    def _list(self, ops, found):
        return found[0]


def test_training_as_configuration(backend):
    test = ComponentTest(Wired(), {"x": INPUTS["inputs"]}, backend=backend)
    x = np.ones((3, 50), np.float32)
    test.test("act", x, expected_outputs=x)
    assert set(np.unique(test.test("learn", x))) == {0.0, 2.0}


class Evaluating(Wired):
    @rlgraph_api
    def act(self, x):
        return self.dropout.call(self._scale(x), training=False)


def test_no_draws_out_of_training():
    for kind in (Wired, Evaluating):
        test = ComponentTest(kind(), {"x": INPUTS["inputs"]}, backend="numpy")
        draws = record_draws(test.executor)
        test.test("act", np.ones((3, 50), np.float32))
        assert not draws


@pytest.mark.parametrize("around", ["residual", "network"])
def test_networks_hand_training_on(around, backend):
    layers = [{"type": "dropout"}, {"type": "activation", "activation": "relu"}]
    if around == "residual":
        layers = [{"type": "residual", "residual_unit": layers, "repeats": 1}]
    else:
        layers = [{"type": "network", "layers": layers}]
    test = ComponentTest(NeuralNetwork(layers), TRAINING, backend=backend)
    x = np.ones((3, 50), np.float32)
    rest = 1.0 if around == "residual" else 0.0
    assert set(np.unique(test.test("call", x, True))) == {rest, rest + 2.0}
    test.test("call", x, False, expected_outputs=x + rest)
    ComponentTest(NeuralNetwork(layers), INPUTS, backend=backend).test("call", x, expected_outputs=x + rest)


def test_what_was_dropped_learns_nothing(trainer):
    test = ComponentTest(Wired(), {"x": INPUTS["inputs"]}, backend=trainer)
    outputs, slopes = test.test("slopes", np.ones((1, 50), np.float32))
    np.testing.assert_allclose(slopes, outputs[0])


def test_mistakes():
    for rate in (1.0, -0.1):
        with pytest.raises(SpecError, match=r"dropout.rate: expected a number in \[0, 1\), given"):
            Dropout(rate)
    with pytest.raises(SpaceError, match="dropout/inputs"):
        ComponentTest(Dropout(), {"inputs": bool}, backend="numpy")
    inputs = FloatBox(shape=(2,), add_batch_rank=True)
    for training in (float, BoolBox(add_batch_rank=True)):
        with pytest.raises(SpaceError, match=r"dropout/training: expected BoolBox\(\)"):
            ComponentTest(Dropout(), {"inputs": inputs, "training": training}, backend="numpy")
