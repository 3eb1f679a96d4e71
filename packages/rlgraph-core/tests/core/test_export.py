"""What of a plan is exported, under which names, and what is refused; without a framework."""

import json

import numpy as np
import pytest

from rlgraph.components import Adam, Dense
from rlgraph.core import (
    CapabilityError,
    Component,
    GraphExecutor,
    InputError,
    RLGraphError,
    graph_fn,
    rlgraph_api,
)
from rlgraph.spaces import Dict, FloatBox

VECTORS = FloatBox(shape=(2,), add_batch_rank=True)


class Model(Component):
    """A layer with host functions before, in the middle and behind."""

    def __init__(self):
        self.layer = Dense(1, scope="layer")
        self.adam = Adam(0.1, scope="adam")
        super().__init__(self.layer, self.adam, scope="model")

    @rlgraph_api
    def predict(self, x):
        return self.layer.call(x)

    @rlgraph_api
    def parts(self, x, pair):
        return {"sum": self._sum(pair["a"], pair["b"]), "both": (self.layer.call(x), pair["a"], 7)}

    @rlgraph_api
    def prefixed(self, x):
        rows = self._load(x)
        return self.layer.call(rows["left"]), rows["right"], x

    @rlgraph_api
    def suffixed(self, x):
        return self._round(self.layer.call(x))

    @rlgraph_api
    def in_the_middle(self, x):
        return self._sum(self._round(self.layer.call(x)), x)

    @rlgraph_api
    def only_host(self, x):
        return self._round(x)

    @rlgraph_api
    def learn(self, x):
        loss = self._mean(self.layer.call(x))
        self.adam.step(self.layer.variables(), loss)
        return loss

    @rlgraph_api
    @graph_fn
    def draw(self, ops, x):
        return x + ops.random_normal(ops.shape(x))

    @rlgraph_api
    @graph_fn
    def draw_up_to(self, ops, x):
        return x + ops.astype(
            ops.random_integers(ops.shape(x), 0, ops.astype(ops.max(x), "int64")), "float32"
        )

    @graph_fn
    def _sum(self, ops, a, b):
        return ops.sum(a) + ops.sum(b)

    @graph_fn
    def _mean(self, ops, x):
        return ops.mean(x)

    @graph_fn(host=True, spaces=Dict(left=VECTORS, right=VECTORS))
    def _load(self, x):
        return {"left": x * 2, "right": x * 3}

    @graph_fn(host=True, spaces=lambda self, x: x)
    def _round(self, x):
        return np.round(x)


@pytest.fixture
def executor(monkeypatch):
    """On NumPy, with an export that keeps what it is given."""
    made = GraphExecutor(Model(), {"x": VECTORS, "pair": Dict(a=VECTORS, b=VECTORS)}, backend="numpy")
    made.set_weights({"layer/weights": [[1.0], [10.0]], "layer/biases": [0.5]})
    given = {}

    def export(methods, storage, directory):
        given.update({method.name: method for method in methods})
        (directory / "program").write_text("".join(given))

    monkeypatch.setattr(made.backend, "exports", frozenset({"draws"}))
    monkeypatch.setattr(made.backend, "export", export)
    made.given = given
    return made


def run(executor, name, *arrays):
    method = executor.given[name]
    return executor.backend.lower(method.plan, method.segment, executor.storage)(*arrays)


X = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)


def test_methods_that_only_read_are_exported(executor, tmp_path):
    executor.export_graph(tmp_path / "export")
    assert sorted(executor.given) == ["draw", "draw_up_to", "parts", "predict", "prefixed"]
    executor.export_graph(tmp_path / "export", ["predict"])
    np.testing.assert_array_equal(run(executor, "predict", X)[0], [[21.5], [43.5]])


def test_names_follow_parameters_and_results(executor, tmp_path):
    executor.export_graph(tmp_path / "export", ["parts"])
    method = executor.given["parts"]
    assert [tensor.name for tensor in method.inputs] == ["x", "pair/a", "pair/b"]
    assert [tensor.name for tensor in method.outputs] == ["output/both/0", "output/both/1", "output/sum"]
    called, handed_on, total = run(executor, "parts", X, X, -3 * X)
    assert total == -20
    np.testing.assert_array_equal(called, [[21.5], [43.5]])
    np.testing.assert_array_equal(handed_on, X)


def test_the_host_prefix_is_left_out(executor, tmp_path):
    executor.export_graph(tmp_path / "export", ["prefixed"])
    method = executor.given["prefixed"]
    assert [tensor.name for tensor in method.inputs] == ["x", "model__load/left", "model__load/right"]
    called, right, x = run(executor, "prefixed", X, 2 * X, 5 * X)
    np.testing.assert_array_equal(called, [[42.5], [86.5]])
    np.testing.assert_array_equal(right, 5 * X)
    np.testing.assert_array_equal(x, X)
    written = json.loads((tmp_path / "export" / "graph.json").read_text())["methods"]["prefixed"]
    assert written["left_out"] == [
        {"function": "model._load", "inputs": ["model__load/left", "model__load/right"]}
    ]


def test_random_numbers_are_inputs(executor, tmp_path):
    folder = executor.export_graph(tmp_path / "export", ["draw"])
    np.testing.assert_array_equal(run(executor, "draw", X, 3 * X)[0], 4 * X)
    inputs = json.loads((folder / "graph.json").read_text())["methods"]["draw"]["inputs"]
    assert [entry["name"] for entry in inputs] == ["x", "noise"]
    assert inputs[1]["noise"] == {"kind": "normal", "parameters": [0.0, 1.0]}
    assert "noise" not in inputs[0] and inputs[1]["shape"] == ["B", 2]


def test_description(executor, tmp_path):
    folder = executor.export_graph(str(tmp_path / "export"), ["predict", "draw"])
    assert folder == tmp_path / "export"
    written = json.loads((folder / "graph.json").read_text())
    assert (written["format"], written["version"], written["backend"]) == ("rlgraph-graph", 1, "numpy")
    predict, draw = written["methods"]["predict"], written["methods"]["draw"]
    assert predict["effects"] == draw["effects"] == []
    (entry,) = predict["inputs"]
    assert (entry["name"], entry["dtype"], entry["shape"]) == ("x", "float32", ["B", 2])
    assert FloatBox.from_spec(entry["space"]) == VECTORS
    assert [(e["name"], e["shape"]) for e in predict["outputs"]] == [("output", ["B", 1])]


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (
            "suffixed",
            "'suffixed' cannot be exported: the host function model._round runs in the middle of it",
        ),
        ("in_the_middle", "the host function model._round runs in the middle of it"),
        ("only_host", "'only_host' cannot be exported: it computes nothing on the backend"),
        ("learn", "'learn' cannot be exported from the numpy backend: adam._apply writes variables"),
    ],
)
def test_what_is_refused(executor, tmp_path, method, message):
    executor.backend.exports = frozenset({"gradients"})
    with pytest.raises(CapabilityError) as error:
        executor.export_graph(tmp_path / "export", ["predict", method])
    assert message in str(error.value)
    assert not list(tmp_path.iterdir())


def test_draws_and_gradients_are_refused_by_name(executor, tmp_path):
    executor.backend.exports = frozenset({"writes"})
    with pytest.raises(CapabilityError, match="model._draw_up_to draws random numbers"):
        executor.export_graph(tmp_path / "export", ["draw_up_to"])
    with pytest.raises(CapabilityError, match="gradients takes gradients"):
        executor.export_graph(tmp_path / "export", ["learn"])


def test_nothing_to_export(tmp_path):
    class Host(Component):
        @rlgraph_api
        @graph_fn(host=True, spaces=lambda self, x: x)
        def round(self, x):
            return np.round(x)

    executor = GraphExecutor(Host(scope="host"), {"x": VECTORS}, backend="numpy")
    executor.backend.exports = frozenset()
    with pytest.raises(CapabilityError, match="no API method only reads and can be exported:\n  .*'round'"):
        executor.export_graph(tmp_path / "export")


def test_wrong_arguments(executor, tmp_path):
    with pytest.raises(RLGraphError, match="no API method 'perdict'. Did you mean 'predict'?"):
        executor.export_graph(tmp_path / "export", ["perdict"])
    with pytest.raises(InputError, match="expected a list of API methods, given 'predict'"):
        executor.export_graph(tmp_path / "export", "predict")
    (tmp_path / "mine").write_text("")
    with pytest.raises(InputError, match="holds something else than an earlier export"):
        executor.export_graph(tmp_path, ["predict"])
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_failing_export_leaves_the_earlier_one(executor, tmp_path):
    executor.export_graph(tmp_path / "export", ["predict"])

    def fail(methods, storage, directory):
        (directory / "half").write_text("")
        raise RuntimeError("the disk is full")

    executor.backend.export = fail
    with pytest.raises(RuntimeError):
        executor.export_graph(tmp_path / "export", ["draw"])
    assert sorted(path.name for path in (tmp_path / "export").iterdir()) == ["graph.json", "program"]
    assert [path.name for path in tmp_path.iterdir()] == ["export"]


def test_backends_that_cannot(tmp_path):
    executor = GraphExecutor(Model(), {"x": VECTORS, "pair": Dict(a=VECTORS, b=VECTORS)}, backend="numpy")
    with pytest.raises(CapabilityError, match="the numpy backend does not export graphs"):
        executor.export_graph(tmp_path / "export")
    with pytest.raises(CapabilityError, match="the numpy backend has no profiler"):
        executor.profile(tmp_path / "trace.json")
