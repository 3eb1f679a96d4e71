import numpy as np
import pytest

from rlgraph.components import Dense, NeuralNetwork, Synchronizer
from rlgraph.core import BuildError, Component, GraphExecutor, SpecError, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox

X = FloatBox(shape=(3,), add_batch_rank=True)
LAYERS = [{"type": "dense", "units": 4, "activation": "relu"}, {"type": "dense", "units": 2}]


class Pair(Component):
    """A network and its target."""

    def __init__(self, tau=1.0, other=None):
        self.net = NeuralNetwork(LAYERS, scope="net")
        self.target = other or self.net.copy(scope="target", trainable=False)
        self.synchronizer = Synchronizer(tau, scope="sync")
        super().__init__(self.net, self.target, self.synchronizer, scope="pair")

    @rlgraph_api
    def call(self, x):
        return self.net.call(x)

    @rlgraph_api
    def call_target(self, x):
        return self.target.call(x)

    @rlgraph_api
    def sync(self):
        return self.synchronizer.sync(self.net.variables(), self.target.variables())

    @rlgraph_api
    def target_around_sync(self, x):
        before = self.target.call(x)
        self.synchronizer.sync(self.net.variables(), self.target.variables())
        return before, self.target.call(x)


def parts(executor):
    weights = executor.get_weights()
    return [
        {name.partition("/")[2]: value for name, value in weights.items() if name.startswith(scope)}
        for scope in ("net/", "target/")
    ]


def test_hard(backend):
    made = GraphExecutor(Pair(), {"x": X}, backend=backend)
    net, target = parts(made)
    assert sorted(net) == sorted(target)
    assert not np.allclose(net["dense-0/weights"], target["dense-0/weights"])
    assert made.execute("sync") is None
    again, target = parts(made)
    for name, value in net.items():
        np.testing.assert_array_equal(target[name], value)
        np.testing.assert_array_equal(again[name], value)
    # A copy: what is written into one is not seen in the other.
    made.set_weights({"net/dense-0/weights": np.zeros((3, 4))})
    np.testing.assert_array_equal(parts(made)[1]["dense-0/weights"], net["dense-0/weights"])


@pytest.mark.parametrize("tau", [0.01, 0.5])
def test_soft(tau, backend):
    """Lillicrap et al. (2016), Algorithm 1."""
    made = GraphExecutor(Pair(tau), {"x": X}, backend=backend, execution_spec={"dtype": "float64"})
    for _ in range(3):
        net, target = parts(made)
        made.execute("sync")
        again, synchronised = parts(made)
        for name, value in net.items():
            np.testing.assert_allclose(synchronised[name], tau * value + (1 - tau) * target[name], rtol=1e-12)
            np.testing.assert_array_equal(again[name], value)


def test_program_order(backend):
    made = GraphExecutor(Pair(), {"x": X}, backend=backend)
    x = np.random.default_rng(0).normal(size=(2, 3)).astype(np.float32)
    target, net = made.execute("call_target", x), made.execute("call", x)
    before, after = made.execute("target_around_sync", x)
    np.testing.assert_array_equal(before, target)
    np.testing.assert_allclose(after, net, atol=1e-6)


def test_one_operation_for_all_variables():
    """Source and target are one block each, so a sync is one copy."""
    made = GraphExecutor(Pair(), {"x": X}, backend="numpy")
    layout = made.built.layout
    for scope in ("net", "target"):
        variables = [v for name, v in made.built.variables.items() if name.startswith(f"{scope}/")]
        assert len(layout.blocks(variables, set())) == 1


def test_variables_that_do_not_fit():
    """Their number differs, or their shapes: some of those would be spread without a word."""
    narrower = [*LAYERS[:-1], {**LAYERS[-1], "units": 1}]
    for layers in (LAYERS[:1], narrower):
        other = NeuralNetwork(layers, scope="target")
        with pytest.raises(BuildError, match="sync: source and target differ in their variables"):
            GraphExecutor(Pair(other=other), {"x": X}, backend="numpy")


@pytest.mark.parametrize("tau", [0.0, 1.5, -1.0, "1", None, float("nan")])
def test_wrong_tau(tau):
    with pytest.raises(SpecError, match=r"synchronizer.tau: expected a number"):
        Synchronizer(tau)


def test_components_in_place_of_their_variables():
    class Root(Component):
        def __init__(self):
            self.layers, self.synchronizer = [Dense(1, scope="a"), Dense(1, scope="b")], Synchronizer()
            super().__init__(*self.layers, self.synchronizer, scope="root")

        @rlgraph_api
        def sync(self):
            return self.synchronizer.sync(*self.layers)

        @rlgraph_api
        def both(self, x):
            return [layer.call(x) for layer in self.layers]

    with pytest.raises(
        BuildError, match=r"synchronizer.sync: source: expected a list of variables, as component.var"
    ):
        GraphExecutor(Root(), {"x": FloatBox(shape=(1,), add_batch_rank=True)}, backend="numpy")


class Counted(Component):
    """A float, and a number of batches as normalizations keep it."""

    def create_variables(self, input_spaces, action_space=None):
        self.get_variable("mean", FloatBox(shape=(1,)), initializer=8.0, trainable=False)
        self.get_variable("batches", int, initializer=8, trainable=False)

    @rlgraph_api
    @graph_fn
    def call(self, ops, x):
        return x


class CountedPair(Pair):
    def __init__(self):
        self.net, self.target = Counted(scope="net"), Counted(scope="target", trainable=False)
        self.synchronizer = Synchronizer(0.25, scope="sync")
        Component.__init__(self, self.net, self.target, self.synchronizer, scope="pair")


def test_integers_are_copied(backend):
    made = GraphExecutor(CountedPair(), {"x": X}, backend=backend)
    made.set_weights({"target/mean": np.zeros(1, np.float32), "target/batches": np.array(0)})
    made.execute("sync")
    assert parts(made)[1] == {"mean": 2.0, "batches": 8}
