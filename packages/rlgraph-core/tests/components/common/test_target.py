import numpy as np
import pytest

from rlgraph.components import NeuralNetwork, Target
from rlgraph.core import AssemblyError, Component, GraphExecutor, SpecError, rlgraph_api
from rlgraph.spaces import FloatBox

X = FloatBox(shape=(3,), add_batch_rank=True)
LAYERS = [{"type": "dense", "units": 4, "activation": "relu"}, {"type": "dense", "units": 2}]


class Followed(Component):
    """Two networks of one kind, and the target of the first."""

    def __init__(self, tau=1.0):
        self.net, self.other = NeuralNetwork(LAYERS, scope="net"), NeuralNetwork(LAYERS, scope="other")
        self.target = Target(self.net, tau)
        super().__init__(self.target, self.net, self.other, scope="followed")

    @rlgraph_api
    def call(self, x):
        return self.net.call(x), self.target.call(x), self.other.call(x)

    @rlgraph_api
    def sync(self):
        return self.target.sync()


def built(backend, tau=1.0, **execution):
    return GraphExecutor(Followed(tau), {"x": X}, backend=backend, execution_spec={"seed": 3, **execution})


def by_part(executor):
    weights = executor.get_weights()
    return [
        np.concatenate(
            [value.reshape(-1) for name, value in sorted(weights.items()) if name.startswith(scope)]
        )
        for scope in ("net/", "target-net/")
    ]


def test_it_starts_equal(backend):
    made = built(backend)
    net, target, other = made.execute("call", X.sample(5, rng=np.random.default_rng(0)))
    np.testing.assert_array_equal(net, target)
    assert not np.allclose(net, other)
    np.testing.assert_array_equal(*by_part(made))
    trained = made.get_weights(trainable_only=True)
    assert {name.split("/")[0] for name in trained} == {"net", "other"}


class CopyOfACopy(Component):
    def __init__(self):
        self.first = NeuralNetwork([{"type": "dense", "units": 3}], scope="first")
        self.second = self.first.copy(scope="second", starts_equal=True)
        self.target = Target(self.second)
        super().__init__(self.first, self.second, self.target)

    @rlgraph_api
    def call(self, x):
        return tuple(part.call(x) for part in (self.first, self.second, self.target))

    @rlgraph_api
    def sync(self):
        return self.target.sync()


def test_the_target_of_a_copy_starts_equal(backend):
    executor = GraphExecutor(CopyOfACopy(), {"x": X}, backend=backend)
    first, second, target = executor.execute("call", X.sample(5, rng=np.random.default_rng(0)))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(second, target)


def test_it_follows(backend):
    made = built(backend, tau=0.25)
    before = by_part(made)[0]
    moved = {name: value + 1.0 for name, value in made.get_weights().items() if name.startswith("net/")}
    made.set_weights(moved)
    assert made.execute("sync") is None
    net, target = by_part(made)
    np.testing.assert_allclose(net, before + 1.0, rtol=1e-6)
    np.testing.assert_allclose(target, before + 0.25, rtol=1e-5)


def test_a_copy_of_an_algorithm_has_targets_of_its_own():
    class Twice(Component):
        def __init__(self):
            self.first = Followed()
            self.second = self.first.copy(scope="second")
            super().__init__(self.first, self.second, scope="twice")

        @rlgraph_api
        def call(self, x):
            return self.first.call(x), self.second.call(x)

        @rlgraph_api(returns=0)
        def sync(self):
            self.first.sync()
            self.second.sync()

    made = GraphExecutor(Twice(), {"x": X}, backend="numpy")
    first, second = made.execute("call", np.ones((2, 3), "float32"))
    np.testing.assert_array_equal(*first[:2])
    np.testing.assert_array_equal(*second[:2])
    assert not np.allclose(first[0], second[0])


def test_mistakes():
    net = NeuralNetwork(LAYERS, scope="net")
    with pytest.raises(SpecError, match="tau: expected a number"):
        Target(net, tau=0.0)
    with pytest.raises(AssemblyError, match="sync"):
        Target(Followed())
