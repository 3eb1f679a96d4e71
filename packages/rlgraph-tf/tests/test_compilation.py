"""Compiled programs: which they are, that they compute the same, and what becomes of those that XLA refuses."""

import numpy as np
import pytest
import tensorflow as tf

from rlgraph.components import Adam, Dense
from rlgraph.core import (
    Component,
    GraphExecutor,
    InputError,
    PerformanceWarning,
    gradients,
    graph_fn,
    loop,
    rlgraph_api,
)
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.tf.backend import TfBackend

pytestmark = pytest.mark.slow

ROWS = FloatBox(shape=(3,), add_batch_rank=True)
SPACES = {"x": ROWS, "n": IntBox(1, 9), "image": FloatBox(shape=(5, 5, 1), add_batch_rank=True)}


class Scale(Component):
    def create_variables(self, input_spaces, action_space=None):
        self.scale = self.get_variable("scale", float, initializer=2.0)

    @rlgraph_api
    @graph_fn
    def weigh(self, ops, x):
        return x * self.scale


class Learner(Component):
    """A regression towards 1, with what XLA likes and what it does not."""

    def __init__(self, kernel=tf.identity):
        self.hidden, self.out, self.adam = Dense(8, activation="tanh"), Dense(1, scope="out"), Adam(0.01)
        self.kernel, self.scale = kernel, Scale(scope="scale")
        super().__init__(self.hidden, self.out, self.adam, self.scale, scope="learner")

    @rlgraph_api
    def predict(self, x):
        return self.out.call(self.hidden.call(x))

    @rlgraph_api
    def learn(self, x):
        loss = self._loss(self.predict(x))
        self.adam.step(self.hidden.variables(), loss)
        return loss

    @rlgraph_api
    def epochs(self, x):
        """Four steps on what is given, shuffled and with noise."""

        def body(i, last):
            loss = self._loss(self.out.call(self.hidden.call(self._shuffled(x))))
            self.adam.step(self.hidden.variables(), loss)
            return loss

        return loop(4, body, self._loss(x))

    @rlgraph_api
    def through_time(self, x):
        """A derivative through a loop."""
        last = loop(3, lambda i, y: self.scale.weigh(y), x)
        return self._sum(gradients(self._loss(last), self.scale.variables()))

    @rlgraph_api
    def collect(self, n, x):
        def body(i, y):
            y = self._square(y)
            return y, y

        return loop(n, body, x, collect=True)

    @rlgraph_api
    def scaled(self, x):
        return self.scale.weigh(x)

    @rlgraph_api
    @graph_fn
    def convolve(self, ops, image):
        return ops.conv2d(image, ops.ones((3, 3, 1, 2)))

    @rlgraph_api
    def odd(self, x):
        return self._native(self.hidden.call(x))

    @graph_fn
    def _loss(self, ops, y):
        return ops.mean(ops.square(y - 1.0))

    @graph_fn
    def _shuffled(self, ops, x):
        size = ops.shape(x)[0]
        noise = ops.random_normal((size, 3)) * ops.random_truncated_normal((size, 1))
        return ops.take(x, ops.random_permutation(size)) + noise

    @graph_fn
    def _square(self, ops, x):
        return ops.matmul(x, ops.ones((3, 3)))

    @graph_fn
    def _sum(self, ops, derivatives):
        return sum(ops.sum(derivative) for derivative in derivatives)

    @graph_fn(spaces=lambda self, y: y)
    def _native(self, ops, y): ...

    @_native.kernel("tf")
    def _native_tf(self, ops, y):
        return self.kernel(y)


def make(compile=True, kernel=tf.identity, **options):
    return GraphExecutor(
        Learner(kernel), SPACES, backend="tf", execution_spec={"compile": compile, "seed": 3, **options}
    )


def x(seed=0, size=6):
    return np.random.default_rng(seed).standard_normal((size, 3)).astype("float32")


def test_compiling_takes_long_and_is_said(caplog):
    with caplog.at_level("INFO", "rlgraph"):
        make(True).program("learn")
    assert caplog.messages == ["learn is compiled by XLA in its first call, which takes some seconds"]


@pytest.mark.parametrize("options", [{}, {"use_kernels": False}, {"threads": None}])
def test_compiled_equals_plain(options):
    """Losses, weights, moments and the draws of all kinds, after several updates."""
    plain, compiled = make(False, **options), make(True, **options)
    start = plain.get_weights()
    for number in range(5):
        for method in ("learn", "epochs"):
            losses = [executor.execute(method, x(number)) for executor in (plain, compiled)]
            np.testing.assert_allclose(*losses, rtol=1e-5)
    assert compiled.choices == {"compile:learn": "xla", "compile:epochs": "xla"}
    assert plain.choices == {}
    weights = plain.get_weights()
    for name, value in compiled.get_weights().items():
        np.testing.assert_allclose(value, weights[name], atol=1e-6, err_msg=name)
    moved = np.abs(weights["dense/weights"] - start["dense/weights"]).max()
    assert moved > 0.01
    streams = [executor.storage.read_tensor_streams() for executor in (plain, compiled)]
    assert streams[0].keys() == streams[1].keys()
    # Three kinds of draws, four times in each of five updates.
    (state,) = streams[1].values()
    assert state[1] == 60
    np.testing.assert_array_equal(state, *streams[0].values())


def test_what_gains_is_compiled():
    executor = make()
    values = executor.get_weights()
    expected = np.tanh(x() @ values["dense/weights"] + values["dense/biases"]) @ values["out/weights"]
    for size in (6, 1, 0):  # every size is a program of its own
        given = executor.execute("predict", x(size=size)[:size])
        np.testing.assert_allclose(given, (expected + values["out/biases"])[:size], atol=1e-6)
    np.testing.assert_allclose(executor.execute("scaled", x()), 2 * x())
    image = np.ones((1, 5, 5, 1), "float32")
    np.testing.assert_allclose(executor.execute("convolve", image)[0, 2, 2], [9, 9])
    assert executor.choices == {
        "compile:predict": "xla",
        "compile:scaled": "graph (no matrix products)",
        "compile:convolve": "graph (convolutions)",
    }


def test_methods_that_are_named_are_compiled():
    executor = make(["scaled", "through_time"])
    executor.execute("predict", x())
    np.testing.assert_allclose(executor.execute("scaled", x()), 2 * x())
    # mean((w^3 x - 1)^2) by w, for w = 2: mean(2 (8 x - 1) 12 x)
    expected = np.mean(2 * (8 * x() - 1) * 12 * x())
    np.testing.assert_allclose(executor.execute("through_time", x()), expected, rtol=1e-5)
    assert executor.choices == {"compile:scaled": "xla", "compile:through_time": "xla"}


def test_checks_of_values_are_kept():
    """XLA leaves them out."""
    executor = make(["collect"])
    _, collected = executor.execute("collect", 2, x(size=1))
    np.testing.assert_allclose(collected[1], np.full((1, 3), 3 * x(size=1).sum()), rtol=1e-5)
    assert executor.choices == {"compile:collect": "graph (a loop that collects checks how often it runs)"}
    with pytest.raises(
        InputError, match="argument n: expected integers of its Space, .*given 0 to 0"
    ) as error:
        executor.execute("collect", 0, x(size=1))
    assert "its count is below 1" in str(error.value.__cause__)


def strange(y):
    """Rounded to two digits, by operations that XLA does not know."""
    return tf.strings.to_number(tf.strings.as_string(y, 2))


def test_what_is_refused_runs_as_a_graph():
    executor, plain = make(kernel=strange), make(False, kernel=strange)
    with pytest.warns(
        PerformanceWarning, match="odd is not compiled and runs as a graph: XLA says: .*AsString"
    ):
        first = executor.execute("odd", x())
    np.testing.assert_array_equal(first, plain.execute("odd", x()))
    assert np.abs(100 * first - np.round(100 * first)).max() < 1e-4
    np.testing.assert_array_equal(executor.execute("odd", x(1)), plain.execute("odd", x(1)))
    assert executor.choices["compile:odd"].startswith("graph (Detected unsupported operations")
    # Repeated, nothing is tried and nobody is warned.
    again = make(kernel=strange, choices=executor.choices)
    np.testing.assert_array_equal(again.execute("odd", x()), first)
    assert again.choices == executor.choices


def test_python_inside_a_graph_is_not_compiled():
    executor = make(
        kernel=lambda y: tf.ensure_shape(tf.numpy_function(lambda a: a + 1, [y], tf.float32), y.shape)
    )
    np.testing.assert_allclose(executor.execute("odd", x()), make(False).execute("odd", x()) + 1, rtol=1e-6)
    assert executor.choices == {"compile:odd": "graph (it calls Python)"}


def test_an_error_of_the_values_is_no_refusal():
    def halves(y):
        return tf.concat([left + right for left, right in [tf.split(y, 2)]], 0)

    executor = make(["odd"], kernel=halves)
    with pytest.raises(tf.errors.InvalidArgumentError):
        executor.execute("odd", x(size=3))
    assert executor.execute("odd", x(size=4)).shape == (2, 8)
    assert executor.choices == {"compile:odd": "xla"}


def test_choices_are_repeated():
    executor = make(choices={"compile:predict": "graph (as it was)"})
    executor.execute("predict", x())
    assert executor.choices == {"compile:predict": "graph (as it was)"}


class Returns(Component):
    @rlgraph_api
    @graph_fn
    def call(self, ops, x):
        return ops.linear_recurrence(ops.matmul(x, ops.ones((3, 3))), 0.5, reverse=True, axis=1)


@pytest.mark.parametrize("wanted", [True, False])
def test_recurrences_are_loops_where_they_are_compiled(wanted, monkeypatch):
    traced = []
    trace = TfBackend.trace

    def keep(*args, **kwargs):
        traced.append(trace(*args, **kwargs))
        return traced[-1]

    monkeypatch.setattr(TfBackend, "trace", keep)
    executor = GraphExecutor(Returns(), {"x": ROWS}, backend="tf", execution_spec={"compile": wanted})
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    expected = x.sum(1, keepdims=True) * [1.75, 1.5, 1.0]
    np.testing.assert_allclose(executor.execute("call", x), expected)
    kinds = {operation.type for concrete in traced for operation in concrete.graph.get_operations()}
    assert any("While" in kind for kind in kinds) == wanted
