"""Exported API methods run, and train, where only TensorFlow is."""

import json
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from rlgraph.components import Adam, Dense
from rlgraph.core import CapabilityError, Component, GraphExecutor, graph_fn, rlgraph_api
from rlgraph.spaces import Dict, FloatBox

pytestmark = pytest.mark.slow

ROWS = FloatBox(shape=(3,), add_batch_rank=True)


class Model(Component):
    def __init__(self):
        self.layer, self.adam = Dense(2, scope="layer"), Adam(0.05, scope="adam", clip_grad_norm=1.0)
        super().__init__(self.layer, self.adam, scope="model")

    @rlgraph_api
    def predict(self, x):
        return self.layer.call(x)

    @rlgraph_api
    def parts(self, parts):
        return {"difference": self._subtract(parts["a"], parts["b"]), "a": parts["a"]}

    @rlgraph_api
    def learn(self, x):
        loss = self._loss(self.layer.call(x))
        self.adam.step(self.layer.variables(), loss)
        return loss

    @rlgraph_api
    def learn_loaded(self, x):
        return self.learn(self._load(x))

    @rlgraph_api
    @graph_fn
    def draw(self, ops, x):
        return x + ops.random_uniform(ops.shape(x))

    @rlgraph_api
    def learn_drawn(self, x):
        return self.learn(self._draw(x))

    @rlgraph_api
    def rounded(self, x):
        return self._round(self.layer.call(x))

    @graph_fn
    def _subtract(self, ops, a, b):
        return a - b

    @graph_fn
    def _loss(self, ops, y):
        return ops.mean(ops.square(y - 1.0))

    @graph_fn(host=True, spaces=ROWS)
    def _load(self, x):
        return 2 * x

    @graph_fn(host=True, spaces=lambda self, y: y)
    def _round(self, y):
        return np.round(y)


@pytest.fixture
def executor():
    return GraphExecutor(
        Model(), {"x": ROWS, "parts": Dict(a=ROWS, b=ROWS)}, backend="tf", execution_spec={"seed": 2}
    )


X = np.arange(12, dtype=np.float32).reshape(4, 3) / 10

ALONE = """
import sys
import numpy as np, tensorflow as tf
assert not any(name.startswith("rlgraph") for name in sys.modules)
run = tf.saved_model.load(sys.argv[1]).signatures
x = tf.constant(np.arange(12, dtype=np.float32).reshape(4, 3) / 10)
losses = [run["learn"](x=x)["output"].numpy() for _ in range(3)]
losses.append(run["learn_loaded"](model__load=2 * x)["output"].numpy())
values = {name: value.numpy() for name, value in run["variables"]().items()}
np.savez(sys.argv[2], losses=losses, predicted=run["predict"](x=x[:1])["output"], **values)
"""


def test_it_runs_and_trains_in_another_process(executor, tmp_path):
    executor.export_graph(tmp_path / "export", ["predict", "learn", "learn_loaded"])
    command = [sys.executable, "-I", "-c", ALONE, str(tmp_path / "export"), str(tmp_path / "results.npz")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    results = dict(np.load(tmp_path / "results.npz"))
    losses = [executor.execute("learn", X) for _ in range(3)]
    losses.append(executor.execute("learn_loaded", X))
    assert losses[2] < losses[1] < losses[0]
    np.testing.assert_allclose(results.pop("losses"), losses, rtol=1e-5)
    np.testing.assert_allclose(results.pop("predicted"), executor.execute("predict", X[:1]), rtol=1e-5)
    assert results.keys() == executor.get_weights().keys()
    for name, value in executor.get_weights().items():
        np.testing.assert_allclose(results[name], value, rtol=1e-5, atol=1e-7, err_msg=name)


def test_signatures_are_as_described(executor, tmp_path):
    executor.export_graph(tmp_path / "export")
    loaded = tf.saved_model.load(str(tmp_path / "export"))
    described = json.loads((tmp_path / "export" / "graph.json").read_text())["methods"]
    assert sorted(described) == ["draw", "parts", "predict"]
    assert {*loaded.signatures} == {*described, "variables"}
    for name, method in described.items():
        signature = loaded.signatures[name]
        given = {
            key: (list(s.shape), s.dtype.name) for key, s in signature.structured_input_signature[1].items()
        }
        assert given == {t["name"].replace("/", "__"): ([None, 3], t["dtype"]) for t in method["inputs"]}
        assert {*signature.structured_outputs} == {t["name"] for t in method["outputs"]}
    results = loaded.signatures["parts"](parts__a=tf.constant(X), parts__b=tf.constant(3 * X))
    np.testing.assert_array_equal(results["output/difference"], X - 3 * X)
    np.testing.assert_array_equal(results["output/a"], X)


def test_only_what_is_needed_is_in_it(executor, tmp_path):
    executor.export_graph(tmp_path / "export", ["predict"])
    names = {*tf.saved_model.load(str(tmp_path / "export")).signatures["variables"]()}
    assert names == {"layer/weights", "layer/biases"}


def test_draws_of_what_writes_go_on_where_they_were(executor, tmp_path):
    executor.execute("learn_drawn", X)
    executor.export_graph(tmp_path / "export", ["learn_drawn"])
    learn = tf.saved_model.load(str(tmp_path / "export")).signatures["learn_drawn"]
    for _ in range(2):
        expected = executor.execute("learn_drawn", X)
        np.testing.assert_allclose(learn(x=tf.constant(X))["output"], expected, rtol=1e-5)


def test_others_can_differentiate_it(executor, tmp_path):
    """With TensorFlow's own derivatives: those that RLgraph has registered are not there."""
    executor.export_graph(tmp_path / "export", ["predict"])
    loaded = tf.saved_model.load(str(tmp_path / "export"))
    predict = loaded.signatures["predict"]
    with tf.GradientTape() as tape:
        x = tf.constant(X)
        tape.watch(x)
        total = tf.reduce_sum(predict(x=x)["output"])
    weights = executor.get_weights()["layer/weights"]
    np.testing.assert_allclose(tape.gradient(total, x), np.tile(weights.sum(1), (4, 1)), rtol=1e-6)


def test_what_is_exported_is_a_copy(executor, tmp_path):
    before = executor.execute("predict", X)
    executor.export_graph(tmp_path / "export", ["predict"])
    executor.execute("learn", X)
    predict = tf.saved_model.load(str(tmp_path / "export")).signatures["predict"]
    np.testing.assert_array_equal(predict(x=tf.constant(X))["output"], before)


def test_host_functions_in_the_middle_are_refused(executor, tmp_path):
    with pytest.raises(CapabilityError, match="'rounded' cannot be exported: the host function model._round"):
        executor.export_graph(tmp_path / "export", ["rounded"])
