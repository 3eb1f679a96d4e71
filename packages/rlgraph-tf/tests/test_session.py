"""API methods in a graph with a session: as the executor runs them, host functions inside."""

import json

import numpy as np
import pytest
import tensorflow as tf

from rlgraph.components import Adam, Dense
from rlgraph.core import (
    Component,
    InputError,
    RLGraphError,
    SpecError,
    executor_class,
    graph_fn,
    loop,
    rlgraph_api,
)
from rlgraph.spaces import Dict, FloatBox, IntBox
from rlgraph.tf import TensorFlowExecutor

ROWS = FloatBox(shape=(3,), add_batch_rank=True)


class Model(Component):
    def __init__(self):
        self.layer, self.adam = Dense(3, scope="layer"), Adam(0.05, scope="adam")
        super().__init__(self.layer, self.adam, scope="model")

    def create_variables(self, input_spaces, action_space=None):
        self.calls = self.get_variable("calls", IntBox(), host=True)
        self.count = self.get_variable("count", FloatBox(), trainable=False)

    @rlgraph_api
    def predict(self, x):
        return self.layer.call(x)

    @rlgraph_api
    def learn(self, x):
        loss = self._loss(self.layer.call(x))
        self.adam.step(self.layer.variables(), loss)
        return loss

    @rlgraph_api
    def learn_through_the_host(self, x):
        variables = self.layer.variables()
        loss = self._loss(self.layer.call(x))
        self.adam.apply_gradients(variables, self._clip(self.adam.calculate_gradients(variables, loss)))
        return loss

    @graph_fn(host=True, spaces=lambda self, grads: grads)
    def _clip(self, grads):
        assert grads.shape == (12,)
        return np.clip(grads, -0.01, 0.01)

    @rlgraph_api
    def through_the_host(self, parts):
        found = self._host(parts, 3)
        return self.layer.call(found["up"]), found["down"], "constant"

    @rlgraph_api
    def in_a_loop(self, x, n):
        return loop(n, lambda i, total: self._host_step(self._grow(x, total), i), self._loss(x))

    @rlgraph_api
    @graph_fn(host=True, returns=0, spaces=())
    def note(self, x):
        self.calls += len(x)

    @rlgraph_api
    def ordered(self, x):
        """The count before, between and behind two additions."""
        before = self._count()
        self._add(x)
        between = self._count()
        self._add(x)
        return before, between, self._count()

    @rlgraph_api
    @graph_fn
    def draw(self, ops, x):
        return x + ops.random_normal(ops.shape(x))

    @graph_fn
    def _loss(self, ops, y):
        return ops.mean(ops.square(y - 1.0))

    @graph_fn(host=True, spaces=Dict(up=ROWS, down=ROWS))
    def _host(self, parts, times):
        return {"up": times * parts["a"], "down": parts["b"] - 1}

    @graph_fn
    def _grow(self, ops, x, total):
        return total + ops.mean(x)

    @graph_fn(host=True, spaces=FloatBox())
    def _host_step(self, total, i):
        return np.round(total, 3) + i

    @graph_fn
    def _count(self, ops):
        return ops.read(self.count)

    @graph_fn(returns=0)
    def _add(self, ops, x):
        ops.assign_add(self.count, ops.sum(x))


SPACES = {"x": ROWS, "parts": Dict(a=ROWS, b=ROWS), "n": IntBox(1, 9)}
X = np.arange(6, dtype=np.float32).reshape(2, 3) / 10


@pytest.fixture(scope="module")
def executor():
    return TensorFlowExecutor(Model(), SPACES, execution_spec={"seed": 4})


@pytest.fixture
def program(executor):
    with executor.session_graph() as program:
        yield program


def test_the_executor_of_the_backend(executor):
    assert executor_class("tf") is TensorFlowExecutor
    assert executor.backend.name == "tf"
    with pytest.raises(SpecError, match="TensorFlowExecutor is the executor of backend 'tf', given 'numpy'"):
        TensorFlowExecutor(Model(), SPACES, backend="numpy")


def test_it_computes_what_the_executor_computes(executor, program):
    for method, arguments in {
        "predict": (X,),
        "through_the_host": ({"a": X, "b": 2 * X},),
        "in_a_loop": (X, 3),
    }.items():
        given, expected = program.run(method, *arguments), executor.execute(method, *arguments)
        if not isinstance(expected, tuple):
            given, expected = (given,), (expected,)
        assert len(given) == len(expected)
        for one, other in zip(given, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_it_trains_variables_of_its_own(executor, program):
    start = executor.get_weights()
    losses = [program.run("learn", X) for _ in range(5)]
    assert losses[4] < losses[0]
    learned = program.get_weights()
    assert np.abs(learned["layer/weights"] - start["layer/weights"]).max() > 0.1
    for name, value in executor.get_weights().items():
        np.testing.assert_array_equal(value, start[name])
    # The same five steps from the same start.
    program.set_weights(start)
    np.testing.assert_array_equal([program.run("learn", X) for _ in range(5)], losses)
    with TensorFlowExecutor(Model(), SPACES, execution_spec={"seed": 4}).session_graph(["learn"]) as other:
        np.testing.assert_allclose([other.run("learn", X) for _ in range(5)], losses, rtol=1e-6)


def test_derivatives_pass_a_host_function(executor, program):
    losses = [program.run("learn_through_the_host", X) for _ in range(3)]
    other = TensorFlowExecutor(Model(), SPACES, execution_spec={"seed": 4})
    expected = [other.execute("learn_through_the_host", X) for _ in range(3)]
    np.testing.assert_allclose(losses, expected, rtol=1e-6)
    assert losses[2] < losses[0]


def test_reads_and_writes_keep_their_order(program):
    assert program.run("ordered", np.ones((1, 3), "float32")) == (0, 3, 6)
    assert program.get_weights()["model/count"] == 6


def test_host_variables_are_shared(executor, program):
    before = int(executor.storage.host["model/calls"])
    assert program.run("note", X) is None
    assert executor.storage.host["model/calls"] == before + 2


def test_draws_begin_where_the_executor_is(executor):
    executor.execute("draw", X)
    with executor.session_graph(["draw"]) as program:
        for _ in range(2):
            np.testing.assert_array_equal(program.run("draw", X), executor.execute("draw", X))


def test_on_a_server(executor):
    server = tf.distribute.Server({"learner": ["127.0.0.1:0"]}, job_name="learner", task_index=0)
    place = "/job:learner/task:0"
    with executor.session_graph(["learn", "predict"], target=server.target, device=place) as learner:
        first = learner.run("learn", X)
        learned = learner.get_weights()
        # Another program on the same server sees the same variables.
        actor = executor.session_graph(["predict"], target=server.target, device=place, initialize=False)
        with actor:
            np.testing.assert_array_equal(actor.run("predict", X), learner.run("predict", X))
    np.testing.assert_allclose(first, np.mean((executor.execute("predict", X) - 1) ** 2), rtol=1e-6)
    assert np.abs(learned["layer/weights"] - executor.get_weights()["layer/weights"]).max() > 0.01


def test_mistakes_are_named(executor, program):
    with pytest.raises(RLGraphError, match="the graph has no API method 'pedict'. Did you mean 'predict'?"):
        program.run("pedict", X)
    with pytest.raises(InputError, match=r"predict: argument x: expected float32\[B, 3\]"):
        program.run("predict", X[:, :2])
    with pytest.raises(
        InputError, match="there is no variable 'layer/weight'. Did you mean 'layer/weights'?"
    ):
        program.set_weights({"layer/weight": 0})
    with pytest.raises(RLGraphError, match="has no API method 'pedict'"):
        executor.session_graph(["pedict"])


def test_a_timeline_names_graph_functions(program, tmp_path):
    with program.profile(tmp_path / "trace.json"):
        program.run("learn", X)
        program.run("note", X)
    program.run("learn", X)
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    names = [event["name"] for event in events if event["ph"] == "X"]
    assert any(name.startswith("layer/call/") for name in names)
    assert any("adam/apply" in name for name in names)
    assert any(event.get("cat") == "PyFunc" for event in events)
