"""What a caller switched on in TensorFlow: results are those without it, or the call is refused."""

from contextlib import contextmanager

import keras
import numpy as np
import pytest
import tensorflow as tf

from rlgraph.components import Adam, Dense
from rlgraph.core import Component, GraphExecutor, RLGraphError, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox


class Regression(Component):
    def __init__(self):
        self.layer, self.optimizer = Dense(2, activation="tanh"), Adam(0.01)
        super().__init__(self.layer, self.optimizer, scope="regression")

    @rlgraph_api
    def act(self, states):
        return self.layer.call(states)

    @rlgraph_api
    def update(self, states):
        loss = self._loss(self.layer.call(states))
        self.optimizer.step(self.layer.variables(), loss)
        return loss

    @graph_fn
    def _loss(self, ops, outputs):
        return ops.mean(ops.square(outputs - 1.0))


STATES = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)


def make():
    return GraphExecutor(Regression(), {"states": FloatBox(shape=(3,), add_batch_rank=True)}, backend="tf")


def learn(path):
    made = make()
    found = [made.get_weights(), made.execute("act", STATES)]
    found += [made.execute("update", STATES) for _ in range(2)]
    made.load(made.save(path))
    return [*found, made.get_weights()]


@contextmanager
def switched(switch, value, before):
    switch(value)
    try:
        yield
    finally:
        switch(before)


MODES = {
    "GradientTape": lambda: tf.GradientTape(persistent=True),
    "device": lambda: tf.device("/CPU:0"),
    "control_dependencies": lambda: tf.control_dependencies([tf.constant(1)]),
    "run_functions_eagerly": lambda: switched(tf.config.run_functions_eagerly, True, False),
    "mixed_float16": lambda: switched(
        keras.mixed_precision.set_global_policy, "mixed_float16", keras.mixed_precision.dtype_policy()
    ),
    "float64": lambda: switched(keras.backend.set_floatx, "float64", "float32"),
    "float16": lambda: switched(keras.backend.set_floatx, "float16", "float32"),
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return learn(tmp_path_factory.mktemp("without") / "checkpoint")


@pytest.mark.parametrize("name", MODES)
def test_results_are_those_without_the_mode(name, expected, tmp_path):
    with MODES[name]():
        found = learn(tmp_path / "checkpoint")
    np.testing.assert_equal(found, expected)
    for before, after in zip(found[0].values(), found[-1].values(), strict=True):
        assert (before != after).any()


def in_function(call):
    @tf.function(autograph=False)
    def traced():
        call()
        return tf.constant(0)

    traced()


def in_graph(call):
    with tf.Graph().as_default():
        call()


CALLS = {
    "build": lambda made, path: make(),
    "act": lambda made, path: made.execute("act", STATES),
    "update": lambda made, path: made.execute("update", STATES),
    "get_weights": lambda made, path: made.get_weights(),
    "set_weights": lambda made, path: made.set_weights(made.weights),
    "save": lambda made, path: made.save(path / "another"),
    "load": lambda made, path: made.load(path / "checkpoint"),
    "export": lambda made, path: made.export_graph(path / "export", ["act"]),
}


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize(("where", "text"), [(in_function, "tf.function"), (in_graph, "tf.Graph")])
def test_calls_that_tensorflow_would_only_record_are_refused(where, text, is_first, tmp_path):
    made = make()
    made.weights = made.get_weights()
    made.save(tmp_path / "checkpoint")
    if not is_first:
        made.execute("act", STATES)
        made.execute("update", STATES)
    before = made.get_weights()
    for call in CALLS.values():
        with pytest.raises(RLGraphError, match=f"inside a {text}"):
            where(lambda call=call: call(made, tmp_path))
    np.testing.assert_equal(made.get_weights(), before)
    assert np.isfinite(made.execute("update", STATES))


def test_a_call_inside_of_a_function_can_leave_it():
    made, losses = make(), []

    def update():
        with tf.init_scope():
            losses.append(made.execute("update", STATES))

    in_function(update)
    assert losses == [make().execute("update", STATES)]
