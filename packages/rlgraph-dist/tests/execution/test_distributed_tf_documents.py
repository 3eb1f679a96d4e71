"""Cluster documents and the distributed_spec of RLgraph 0.5; and TensorFlow that is not installed."""

import json
import sys

import pytest

from rlgraph.core import PluginError, RLGraphError, SpecError
from rlgraph.core.addresses import free_address
from rlgraph.execution.distributed_tf import ImpalaExecutor, serve
from rlgraph.execution.distributed_tf.cluster import Cluster
from rlgraph.execution.distributed_tf.engine import DistributedTFEngine

DOCUMENT = {"learner": ["127.0.0.1:8000"], "actor": ["127.0.0.1:8001", "127.0.0.1:8002"]}


def test_a_cluster_from_a_mapping_or_a_file(tmp_path):
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps(DOCUMENT))
    cluster = Cluster.from_spec(DOCUMENT)
    assert Cluster.from_spec(str(file)) == cluster
    assert (cluster.learner, cluster.job, cluster.worker(1)) == ("127.0.0.1:8000", "actor", "127.0.0.1:8002")
    assert Cluster.from_spec({"learner": ["a:1"], "worker": ["b:1"]}).job == "worker"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"ps": ["127.0.0.1:1"]}, r"^cluster: expected \{'learner': \['host:port'\], 'actor'"),
        ({"worker": ["127.0.0.1:1"]}, r"^cluster: expected \{'learner'"),
        ({"learner": ["127.0.0.1:1", "127.0.0.1:2"]}, r"^cluster.learner: expected one address"),
        ({"learner": "127.0.0.1:1"}, r"^cluster.learner: expected a list of 'host:port', given '127"),
        ({"actor": []}, r"^cluster.actor: expected a list of 'host:port', given \[\]"),
        ({"actor": ["127.0.0.1:1", "here"]}, r"^cluster.actor\[1\]: expected 'host:port', given 'here'"),
        ({"actor": ["127.0.0.1:70000"]}, r"^cluster.actor\[0\]: expected 'host:port'"),
        ({"actor": ["127.0.0.1:8000"]}, r"^cluster: expected an address for each task, given 127.0.0.1:8000"),
    ],
)
def test_what_is_no_cluster(changed, message):
    with pytest.raises(SpecError, match=message):
        Cluster.from_spec({**DOCUMENT, **changed})


def test_a_file_that_is_not_there_and_an_index_that_is_not():
    with pytest.raises(SpecError, match="cluster: expected a JSON file, given 'nowhere.json'"):
        serve("nowhere.json", 0)
    with pytest.raises(SpecError, match="task_index: expected the index of a worker, 0 to 1, given 2"):
        serve(DOCUMENT, 2)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ({"job": "learner"}, "distributed_spec: expected a mapping with cluster_spec, job and task_index"),
        (
            {"cluster_spec": DOCUMENT, "job": "ps"},
            "distributed_spec.job: expected 'learner' or 'actor', given 'ps'",
        ),
        (
            {"cluster_spec": DOCUMENT, "job": "actor", "task_index": 2},
            "task_index: expected the index of a worker",
        ),
        ({"cluster_spec": DOCUMENT, "protocol": "grpc+verbs"}, "protocol: expected 'grpc', given 'grpc"),
        ({"cluster_spec": {"ps": ["a:1"]}}, "distributed_spec.cluster_spec: expected {'learner'"),
    ],
)
def test_what_is_no_task(task, message):
    with pytest.raises(SpecError, match=f"agent_config.execution_spec.*{message}"):
        ImpalaExecutor({"type": "impala", "execution_spec": {"distributed_spec": task}}, "CartPole-v1")


def test_an_engine_and_a_task():
    task = {"job": "learner", "task_index": 0, "cluster_spec": DOCUMENT}
    agent = {"type": "impala", "execution_spec": {"mode": "distributed", "distributed_spec": task}}
    with pytest.raises(SpecError, match=r"engine: given here and in execution_spec.distributed_spec: engine"):
        ImpalaExecutor(agent, "CartPole-v1", engine="in_process")


def test_a_learner_that_never_comes():
    pytest.importorskip("tensorflow")
    learner, own = free_address(), free_address()
    with pytest.raises(RLGraphError, match=f"worker 0: no learner came to {learner} within 0.2 s: start it"):
        serve({"learner": [learner], "actor": [own]}, 0, connect_timeout=0.2)


def test_tensorflow_is_not_installed(monkeypatch):
    monkeypatch.delitem(sys.modules, "rlgraph.execution.distributed_tf.server_queues", raising=False)
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    import rlgraph.execution.distributed_tf as package

    monkeypatch.delattr(package, "server_queues", raising=False)
    with pytest.raises(
        PluginError, match=r"'distributed_tf' needs TensorFlow .*: pip install 'rlgraph-dist\[tf\]'"
    ):
        DistributedTFEngine()
