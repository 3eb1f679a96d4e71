"""Inputs whose Space is that of a component's variables; functions that take variables one by one."""

import numpy as np
import pytest

from rlgraph.core import (
    BuildError,
    Component,
    GraphExecutor,
    assemble,
    build,
    gradients,
    graph_fn,
    loop,
    rlgraph_api,
)
from rlgraph.spaces import FloatBox, Tuple

STATES = FloatBox(shape=(3,), add_batch_rank=True)


class Layer(Component):
    def create_variables(self, input_spaces, action_space=None):
        self.weights = self.get_variable("weights", FloatBox(shape=(input_spaces["x"].shape[0], 2)))
        self.biases = self.get_variable("biases", FloatBox(shape=(2,)))

    @rlgraph_api
    @graph_fn
    def call(self, ops, x):
        return ops.matmul(x, self.weights) + self.biases


class Net(Component):
    """Two layers, whose weights come and go through the API."""

    def __init__(self, **kwargs):
        # Sorted by scoped name ("a/..." before "a2/..."), which mangled names would not be.
        self.layers = [Layer(scope="a2"), Layer(scope="a")]
        super().__init__(*self.layers, scope="net", **kwargs)

    @rlgraph_api
    def call(self, x):
        return self.layers[1].call(self.layers[0].call(x))

    @rlgraph_api
    def write(self, values):
        self._write(self.variables(), values)

    @graph_fn(returns=0, per_variable=True)
    def _write(self, ops, variables, values):
        for variable, value in zip(variables, values, strict=True):
            ops.assign(variable, value)


class Root(Component):
    def __init__(self):
        self.net = Net()
        super().__init__(self.net, scope="root", expose_apis={"call"})

    @rlgraph_api
    def set_weights(self, values):
        self.net.write(values)

    @rlgraph_api
    def norms(self):
        return self._norms(self.net.variables())

    @graph_fn(per_variable=True)
    def _norms(self, ops, variables):
        return tuple(ops.sum(ops.abs(variable), axis=-1) for variable in variables)


NAMES = ["net/a/biases", "net/a/weights", "net/a2/biases", "net/a2/weights"]


def test_weights_through_the_api(backend):
    executor = GraphExecutor(Root(), {"x": STATES, "values": "variables:net"}, backend=backend)
    assert executor.built.input_spaces["set_weights"]["values"] == Tuple(
        FloatBox(shape=(2,)), FloatBox(shape=(2, 2)), FloatBox(shape=(2,)), FloatBox(shape=(3, 2))
    )
    assert list(executor.get_weights()) == NAMES
    rng = np.random.default_rng(3)
    values = {n: rng.normal(size=v.shape).astype(np.float32) for n, v in executor.get_weights().items()}
    assert executor.execute("set_weights", tuple(values.values())) is None
    for name, value in executor.get_weights().items():
        np.testing.assert_array_equal(value, values[name])
    x = rng.normal(size=(5, 3)).astype(np.float32)
    a, aw, b, bw = values.values()
    np.testing.assert_allclose(executor.execute("call", x), (x @ bw + b) @ aw + a, rtol=1e-5)
    # One by one and in their own shapes, though they share a buffer.
    for norm, value in zip(executor.execute("norms"), values.values(), strict=True):
        np.testing.assert_allclose(norm, np.abs(value).sum(-1), rtol=1e-5)


def test_wrong_weights():
    executor = GraphExecutor(Root(), {"x": STATES, "values": "variables:net"}, backend="numpy")
    with pytest.raises(Exception, match=r"set_weights: argument values.*expected \(float32\[2\], float32"):
        executor.execute("set_weights", {"net/a/biases": np.zeros(2)})
    values = tuple(executor.get_weights().values())
    with pytest.raises(
        Exception, match=r"argument values.3: expected float32\[3, 2\], given float32\[2, 2\]"
    ):
        executor.execute("set_weights", (*values[:3], values[1]))


def test_an_unknown_component():
    with pytest.raises(
        BuildError,
        match=r"input_spaces\['set_weights.values'\] = 'variables:nett': there is no component 'nett'.*'net'",
    ):
        GraphExecutor(Root(), {"x": STATES, "values": "variables:nett"}, backend="numpy")


def test_a_component_that_waits_for_its_own_variables():
    class Strict(Net):
        def create_variables(self, input_spaces, action_space=None):
            self.number = len(input_spaces["values"])

    with pytest.raises(BuildError, match="the build cannot go on") as error:
        build(assemble(Strict()), {"x": STATES, "values": "variables:net"})
    lines = str(error.value).splitlines()
    assert (
        "  net: argument values of write has no Space; it is supplied by the input values, which holds the "
        "variables of net" in lines
    )
    assert "the cycle: net waits for net" in lines


def test_derivatives_come_in_blocks():
    class Bad(Component):
        def __init__(self):
            self.layer = Layer(scope="layer")
            super().__init__(self.layer, scope="root")

        @rlgraph_api
        def run(self, x):
            loss = self._loss(self.layer.call(x))
            return self._step(gradients(loss, self.layer.variables()))

        @graph_fn
        def _loss(self, ops, y):
            return ops.sum(y)

        @graph_fn(per_variable=True)
        def _step(self, ops, derivatives):
            return derivatives[0]

    with pytest.raises(BuildError, match="derivatives come in blocks"):
        build(assemble(Bad()), {"x": STATES})


# Functions that wait for variables.


@pytest.mark.parametrize("where", ["function", "method"])
def test_what_waits_for_all_variables(where):
    waits = {"requires_variable_completeness": True}
    seen = []

    class Waiting(Component):
        def __init__(self):
            self.layer = Layer(scope="layer")
            super().__init__(self.layer, scope="root")

        @rlgraph_api(**waits if where == "method" else {})
        def look(self):
            return self._look()

        @rlgraph_api
        def run(self, x):
            return self.layer.call(self._double(x))

        @graph_fn
        def _double(self, ops, x):
            return x * 2.0

        @graph_fn(**waits if where == "function" else {})
        def _look(self, ops):
            seen.append(sorted(self.layer.declared_variables))
            return ops.zeros(())

    # `look` comes first in program order, and the layer waits for an output of the root.
    GraphExecutor(Waiting(), {"x": STATES}, backend="numpy")
    assert seen == [["layer/biases", "layer/weights"]]


def test_the_cycle_through_what_a_loop_carries():
    class Scaled(Component):
        def create_variables(self, input_spaces, action_space=None):
            self.w = self.get_variable("w", FloatBox(shape=input_spaces["x"].shape))

        @rlgraph_api
        @graph_fn
        def call(self, ops, x):
            return x * self.w

    class Repeated(Component):
        def __init__(self):
            self.scaled = Scaled(scope="scaled")
            super().__init__(self.scaled, scope="root")

        @rlgraph_api
        def run(self, values):
            return loop(2, lambda i, v: self.scaled.call(v), values)

    with pytest.raises(BuildError, match="the cycle: scaled waits for root.loop waits for scaled"):
        build(assemble(Repeated()), {"values": "variables:scaled"})


class HalfFrozen(Component):
    """A trainable and a frozen layer, and a counter."""

    def __init__(self):
        self.frozen, self.layer = Layer(scope="frozen", trainable=False), Layer(scope="layer")
        super().__init__(self.frozen, self.layer, scope="root")

    def create_variables(self, input_spaces, action_space=None):
        self.count = self.get_variable("count", FloatBox(), trainable=False)

    @rlgraph_api
    def run(self, x):
        y = self.layer.call(self.frozen.call(x))
        derivatives = gradients(self._sum(y), self.variables(trainable_only=True))
        return (
            self._sizes(derivatives),
            self._sizes(self.variables()),
            self._sizes(self.variables(trainable_only=True)),
        )

    @graph_fn
    def _sum(self, ops, y):
        return ops.sum(y) + self.count

    @graph_fn
    def _sizes(self, ops, blocks):
        return sum(ops.sum(ops.ones_like(block)) for block in blocks)


def test_trainable_variables_only():
    pytest.importorskip("torch")
    executor = GraphExecutor(HalfFrozen(), {"x": STATES}, backend="torch")
    # layer: weights [2, 2] and biases [2]; frozen: weights [3, 2] and biases [2]; the counter
    sizes = executor.execute("run", np.ones((4, 3), np.float32))
    assert [float(size) for size in sizes] == [6.0, 15.0, 6.0]
