"""Profiles of calls, and what TensorBoard is given."""

import json

import numpy as np
import pytest
import tensorflow as tf

from rlgraph.components import Dense
from rlgraph.core import InputError, PluginError, RLGraphError
from rlgraph.spaces import FloatBox
from rlgraph.tf import TensorFlowExecutor, summaries

X = np.ones((2, 3), "float32")


@pytest.fixture(scope="module")
def executor():
    return TensorFlowExecutor(
        Dense(4, "relu", scope="layer"), {"inputs": FloatBox(shape=(3,), add_batch_rank=True)}
    )


def test_a_profile_names_graph_functions(executor, tmp_path):
    executor.execute("call", X)
    with executor.profile(tmp_path / "trace.json"):
        for _ in range(3):
            executor.execute("call", X)
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    # TensorFlow may fuse what stands in one graph function.
    products = [
        event for event in events if event["name"].startswith("layer/call/") and "MatMul" in event["cat"]
    ]
    assert len(products) == 3
    assert all(event["ph"] == "X" and event["dur"] > 0 and event["ts"] >= 0 for event in products)
    times = sorted(event["ts"] for event in products)
    assert times[0] < times[1] < times[2] < 60e6  # microseconds from the beginning on
    threads = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    assert {(event["pid"], event["tid"]) for event in products} <= threads


def test_profiles_that_cannot_be_written(executor, tmp_path):
    with (
        pytest.raises(InputError, match="there is no folder"),
        executor.profile(tmp_path / "no" / "trace.json"),
    ):
        pass
    with pytest.raises(ZeroDivisionError), executor.profile(tmp_path / "trace.json"):
        1 / 0
    assert not list(tmp_path.iterdir())
    with executor.profile(tmp_path / "trace.json"):  # the one that failed has ended
        executor.execute("call", X)


def test_one_profile_at_a_time(executor, tmp_path):
    with (
        executor.profile(tmp_path / "one.json"),
        pytest.raises(RLGraphError, match="another profile is running"),
        executor.profile(tmp_path / "other.json"),
    ):
        pass
    assert [file.name for file in tmp_path.iterdir()] == ["one.json"]


def read(directory):
    (file,) = directory.glob("events.*")
    values, graphs = {}, []
    for record in tf.compat.v1.train.summary_iterator(str(file)):
        for value in record.summary.value:
            values.setdefault((value.tag, record.step), []).append(tf.make_ndarray(value.tensor))
        if record.graph_def:
            graph = tf.compat.v1.GraphDef()
            graph.ParseFromString(record.graph_def)
            graphs.append(graph)
    return values, graphs


def test_summaries(executor, tmp_path):
    executor.set_weights({"layer/weights": np.full((3, 4), 2.0)})
    with executor.summary_writer(tmp_path) as writer:
        writer.scalar("loss", 0.25, step=7)
        writer.variables(step=8)
        writer.graph("call")
    values, graphs = read(tmp_path)
    assert values["loss", 7] == [0.25]
    np.testing.assert_allclose(values["layer/weights/norm", 8], [np.sqrt(12 * 4)])
    (histogram,) = values["layer/weights", 8]
    assert histogram[:, 2].sum() == 12  # [left, right, count] of every bucket
    (graph,) = graphs
    assert any(node.name == "layer/call/MatMul" for node in graph.node)


def test_tensorboard_is_missing(executor, tmp_path, monkeypatch):
    monkeypatch.setattr(summaries, "find_spec", lambda name: None)
    with pytest.raises(PluginError, match=r"pip install 'rlgraph-tf\[tensorboard\]'"):
        executor.summary_writer(tmp_path)
