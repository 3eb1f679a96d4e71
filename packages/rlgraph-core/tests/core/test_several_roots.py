"""One graph executor for several roots that share components."""

import numpy as np
import pytest

from rlgraph.components import Adam, Dense
from rlgraph.core import AssemblyError, Component, GraphExecutor, RLGraphError, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox

X = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
SPACES = {"x": FloatBox(shape=(2,), add_batch_rank=True)}


class Actor(Component):
    def __init__(self, network, scope="actor"):
        self.network = network
        super().__init__(network, scope=scope)

    @rlgraph_api
    def act(self, x):
        return self.network.call(x)

    @rlgraph_api
    def describe(self, x):
        return self._scaled(self.network.call(x), 10.0)

    @graph_fn
    def _scaled(self, ops, x, factor):
        return x * factor


class Learner(Component):
    def __init__(self, network, scope="learner"):
        self.network, self.optimizer = network, Adam(learning_rate=0.1, scope="optimizer")
        super().__init__(network, self.optimizer, scope=scope)

    @rlgraph_api
    def update(self, x):
        loss = self._loss(self.network.call(x))
        self.optimizer.step(self.network.variables(), loss)
        return loss

    @rlgraph_api
    def describe(self, x):
        return self._loss(self.network.call(x))

    @graph_fn
    def _loss(self, ops, y):
        return ops.mean(ops.square(y))


@pytest.fixture
def roots():
    network = Dense(1, scope="network")
    return Actor(network), Learner(network)


def test_they_share_what_they_share(roots, trainer):
    actor, learner = roots
    executor = GraphExecutor([actor, learner], SPACES, backend=trainer)
    assert sorted(n for n in executor.get_weights() if "optimizer" not in n) == [
        "actor/network/biases",
        "actor/network/weights",
    ]
    before = executor.execute("act", X)
    executor.execute("update", X)
    after = executor.execute(actor.act, X)
    assert not np.array_equal(before, after)
    weights = executor.get_weights()
    expected = X @ weights["actor/network/weights"] + weights["actor/network/biases"]
    np.testing.assert_allclose(after, expected, rtol=1e-5)


def test_methods_of_one_name_are_told_apart(roots):
    actor, learner = roots
    executor = GraphExecutor([actor, learner], SPACES, backend="numpy")
    assert executor.methods == ["act", "actor_describe", "learner_describe", "update"]
    described = executor.execute(actor.describe, X)
    np.testing.assert_allclose(described, 10.0 * executor.execute("act", X), rtol=1e-6)
    np.testing.assert_array_equal(described, executor.execute("actor_describe", X))
    np.testing.assert_array_equal(
        executor.execute(learner.describe, X), executor.execute("learner_describe", X)
    )


def test_they_run_as_one_program(roots):
    actor, learner = roots
    executor = GraphExecutor([actor, learner], SPACES, backend="numpy")
    acted, described = executor.execute([(actor.act, X), (learner.describe, X)])
    np.testing.assert_allclose(described, np.mean(np.square(acted)), rtol=1e-6)


def test_mistakes(roots):
    actor, learner = roots
    with pytest.raises(AssemblyError, match="two sub-components have the scope 'actor'"):
        GraphExecutor([actor, Actor(Dense(1))], SPACES, backend="numpy")
    with pytest.raises(AssemblyError, match="expected at least one root, given an empty list"):
        GraphExecutor([], SPACES, backend="numpy")
    with pytest.raises(AssemblyError, match="the root 'actor' is given twice: give it once"):
        GraphExecutor([actor, learner, actor], SPACES, backend="numpy")
    executor = GraphExecutor([actor, learner], SPACES, backend="numpy")
    with pytest.raises(RLGraphError, match="no API method 'describe'. Did you mean"):
        executor.execute("describe", X)
