"""No document and no run folder connects to an address in it; `--allow-cluster` lets it. The cluster is hostile."""

import json
import pickle
import socket
import threading
from contextlib import suppress
from typing import Literal

import pytest

from rlgraph.agents import Agent
from rlgraph.cli.main import main
from rlgraph.core import SpecError, allow_clusters, allow_network, data_specs, registry
from rlgraph.core.collectives.place import collective_class
from rlgraph.execution import InProcessEngine, SyncBatchExecutor
from rlgraph.runs import fork, resume, train
from rlgraph.runs.config_file import read_config, write_config
from rlgraph.runs.configuration import check
from rlgraph.runs.executors import engine_class, worker_class
from rlgraph.runs.loading import load_agent

AGENT = {"type": "random", "execution_spec": {"threads": None}}


class Effect:
    """Leaves a file where it is unpickled."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return open, (str(self.file), "w")


class Cluster:
    """A server on loopback that answers every connection with a pickle which runs code."""

    def __init__(self, file):
        self.file, self.connections = file, 0
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._server.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with suppress(OSError):
            while True:
                connection, _ = self._server.accept()
                self.connections += 1
                with connection:
                    connection.sendall(pickle.dumps(Effect(self.file)))

    def close(self):
        self._server.close()


@pytest.fixture
def cluster(tmp_path):
    cluster = Cluster(tmp_path / "executed")
    yield cluster
    cluster.close()


def ask(address):
    """What an engine of a third party does with its cluster."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), 5.0) as connection, connection.makefile("rb") as stream:
        pickle.load(stream).close()


class ElsewhereEngine(InProcessEngine):
    """An engine of a third party that says nothing of its options."""

    def __init__(
        self,
        *,
        head: str = "",
        peers: dict | None = None,
        mode: Literal["fast", "slow"] = "fast",
        port: int = 0,
    ):
        for address in (head, *(peers or {}).get("first", [])):
            if address:
                ask(address)
        super().__init__()


class ElsewhereExecutor(SyncBatchExecutor):
    """An executor of a third party with an address of its own."""

    def __init__(self, agent=None, env_spec=None, *, coordinator: str | None = None, **options):
        if coordinator:
            ask(coordinator)
        super().__init__(agent, env_spec, **options)


class ElsewhereCollective:
    """A collective of a third party that meets somewhere else."""

    def __init__(self, rank, size, address, timeout, rendezvous: str):
        ask(rendezvous)


@pytest.fixture(autouse=True)
def plugins(monkeypatch):
    for group, kind in (
        ("engines", ElsewhereEngine),
        ("executors", ElsewhereExecutor),
        ("collectives", ElsewhereCollective),
    ):
        known = registry(f"rlgraph.{group}")
        monkeypatch.setattr(known, "_plugins", dict(known._plugins))
        monkeypatch.setattr(known, "_objects", dict(known._objects))
        known.register("elsewhere", kind)


def document(executor_spec=None, **execution_spec):
    agent = {**AGENT, "execution_spec": {**AGENT["execution_spec"], **execution_spec}}
    return {
        "agent": agent,
        "environment": "deterministic",
        "backend": "numpy",
        "steps": 8,
        "worker": {"num_envs": 1},
        "executor_spec": executor_spec,
        "evaluation": {"final_episodes": 1},
        "logging": {"tensorboard": False},
    }


def on(engine):
    return document({"type": "sync_batch", "actors": 1, "engine": engine})


#: Name -> the document that names an address.
DOCUMENTS = {
    "ray": lambda a: on({"type": "ray", "address": a, "connect_timeout": 0.5}),
    "ray client": lambda a: on({"type": "ray", "address": f"ray://{a}", "connect_timeout": 0.5}),
    "agent's executor": lambda a: document({"engine": {"type": "ray", "address": a}}),
    "distributed_tf": lambda a: on(
        {"type": "distributed_tf", "cluster": {"learner": ["127.0.0.1:1"], "actor": [a]}}
    ),
    "engine": lambda a: on({"type": "elsewhere", "head": a}),
    "engine, nested": lambda a: on({"type": "elsewhere", "peers": {"first": [a]}}),
    "executor": lambda a: document(
        {"type": "elsewhere", "engine": "in_process", "actors": 1, "coordinator": a}
    ),
    "collective": lambda a: document(learners=2, collective={"type": "elsewhere", "rendezvous": a}),
}


@pytest.fixture
def rlgraph(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["rlgraph", *map(str, arguments)])
        capsys.readouterr()
        return main(), capsys.readouterr().err

    return run


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a run without an executor."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    train(document(), folder)
    return folder


def planted(finished, folder, changed):
    """A copy of a run whose author changed its document, checksum included."""
    import shutil

    shutil.copytree(finished, folder)
    config = {name: value for name, value in read_config(folder).items() if name != "checksum"}
    config["run"]["executor_spec"] = changed["executor_spec"]
    config["run"]["agent"]["execution_spec"].update(changed["agent"]["execution_spec"])
    write_config(folder, config)
    return folder


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_document_connects(name, cluster, rlgraph, tmp_path):
    file = tmp_path / "run.json"
    file.write_text(json.dumps(DOCUMENTS[name](cluster.address)))
    for command in (("config", "validate"), ("config", "show"), ("train",)):
        code, said = rlgraph(*command, file)
        assert code == 2, said
        assert (
            f"{cluster.address}" in said
            and "--allow-cluster" in said
            and "rlgraph.core.allow_clusters" in said
        )
    with pytest.raises(SpecError, match="--allow-cluster"):
        train(json.loads(file.read_text()), tmp_path / "run")
    assert cluster.connections == 0 and not cluster.file.exists()
    assert not (tmp_path / "run").exists() and not (tmp_path / "runs").exists()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_run_folder_connects(name, cluster, rlgraph, finished, tmp_path):
    """It is not resumed; what reads it does not mind."""
    folder = planted(finished, tmp_path / "planted", DOCUMENTS[name](cluster.address))
    before = {
        file: file.read_bytes() for file in folder.rglob("*") if file.is_file() and "lock" not in file.name
    }
    for arguments in (("--steps", 64), ("--steps", 64, "--fork", tmp_path / "new")):
        code, said = rlgraph("resume", folder, *arguments)
        assert code == 2 and "--allow-cluster" in said
    for train_on in (lambda: resume(folder, steps=64), lambda: fork(folder, tmp_path / "new", steps=64)):
        with pytest.raises(SpecError, match="--allow-cluster"):
            train_on()
    assert Agent.load(folder).timesteps == Agent.load(folder / "checkpoints" / "last").timesteps == 8
    assert load_agent(folder)[0].timesteps == 8
    assert rlgraph("evaluate", folder, "--episodes", 1)[0] == 0
    assert cluster.connections == 0 and not cluster.file.exists()
    assert {file: file.read_bytes() for file in before} == before


@pytest.mark.parametrize("name", ["engine", "engine, nested", "executor"])
def test_an_address_that_is_allowed(name, cluster, rlgraph, tmp_path):
    file = tmp_path / "run.json"
    file.write_text(json.dumps(DOCUMENTS[name](cluster.address)))
    code, said = rlgraph(
        "train", file, "--folder", tmp_path / "run", "--allow-cluster", cluster.address, "--quiet"
    )
    assert code == 0, said
    assert cluster.connections >= 1 and cluster.file.exists()
    # A run folder is data as well.
    connections = cluster.connections
    assert "--allow-cluster" in rlgraph("resume", tmp_path / "run", "--steps", 16)[1]
    assert cluster.connections == connections
    assert rlgraph("resume", tmp_path / "run", "--steps", 16, "--allow-cluster", cluster.address)[0] == 0


def test_ray_connects_to_what_is_allowed_alone(cluster, rlgraph, tmp_path):
    file = tmp_path / "run.json"
    file.write_text(json.dumps(DOCUMENTS["ray"](cluster.address)))
    _, said = rlgraph("train", file, "--allow-cluster", "127.0.0.1:1")
    assert "--allow-cluster" in said and cluster.connections == 0
    _, said = rlgraph("train", file, "--allow-cluster", cluster.address, "--folder", tmp_path / "run")
    assert "no Ray cluster answered" in said and cluster.connections > 0
    assert not cluster.file.exists()


def test_a_program_names_what_it_wants(cluster):
    assert engine_class({"type": "ray", "address": "somewhere:1"})[1] == {"address": "somewhere:1"}
    ElsewhereEngine(head=cluster.address)
    assert cluster.connections == 1
    with data_specs():
        with pytest.raises(SpecError, match=r"engine: expected addresses .* given 'somewhere:1'"):
            engine_class({"type": "ray", "address": "somewhere:1"})
        with allow_clusters("somewhere:1"):
            engine_class({"type": "ray", "address": "somewhere:1"})


def test_all_addresses_are_named_at_once():
    cluster = {"learner": ["a:1"], "actor": ["b:2", "c:3"]}
    with pytest.raises(SpecError) as caught:
        check(on({"type": "distributed_tf", "cluster": cluster}))
    said = str(caught.value)
    assert "executor_spec.engine: expected addresses" in said
    assert "--allow-cluster a:1 --allow-cluster b:2 --allow-cluster c:3" in said and "--allow-network" in said
    with allow_clusters("a:1", "b:2", "c:3"), allow_network():
        check(on({"type": "distributed_tf", "cluster": cluster}))


def test_words_and_numbers_are_no_addresses():
    with data_specs():
        engine_class({"type": "elsewhere", "mode": "slow", "port": 3})
        worker_class({"type": "impala", "actors": 1}, {"type": "impala"})
        assert collective_class({"type": "gloo", "timeout": 3.0})[1] == {"timeout": 3.0}


def test_servers_that_others_can_reach(rlgraph, tmp_path):
    """Data alone never starts one."""
    for spec in ("distributed_tf", {"type": "distributed_tf", "allow_network": True}):
        file = tmp_path / "run.json"
        file.write_text(json.dumps(on(spec)))
        code, said = rlgraph("train", file)
        assert (
            code == 2 and "executor_spec.engine: expected --allow-network, since it starts a server" in said
        )
        assert not (tmp_path / "runs").exists()
    with pytest.raises(SpecError, match=r"engine: expected --allow-network.*allow_network=True"):
        SyncBatchExecutor(AGENT, "deterministic", engine="distributed_tf", backend="numpy")
    with pytest.raises(SpecError, match=r"allow_network: expected among the options of the engine"):
        from rlgraph.execution.distributed_tf import ImpalaExecutor

        ImpalaExecutor("impala", "deterministic", engine="in_process", allow_network=True)


def test_what_is_allowed_reaches_learners_that_are_started():
    from rlgraph.learning.group import OtherLearner

    with allow_clusters("here:1"), allow_network():
        other = OtherLearner(Agent, {}, b"")
    assert other.allowed.clusters == ("here:1",) and other.allowed.network


def test_a_cluster_file_that_changes_after_the_check(tmp_path, monkeypatch):
    """The engine looks again at what it uses."""
    pytest.importorskip("tensorflow")
    from rlgraph.execution.distributed_tf.engine import DistributedTFEngine

    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"learner": ["127.0.0.1:1"], "actor": ["127.0.0.1:2"]}))
    with data_specs(), allow_clusters("127.0.0.1:1", "127.0.0.1:2"), allow_network():
        kind, options = engine_class({"type": "distributed_tf", "cluster": str(file)})
        assert kind is DistributedTFEngine
        file.write_text(json.dumps({"learner": ["127.0.0.1:1"], "actor": ["127.0.0.1:3"]}))
        with pytest.raises(SpecError, match=r"given '127\.0\.0\.1:3'"):
            kind(**options)


@pytest.mark.parametrize("kind", [["sync_batch"], {"a": 1}, 3])
def test_an_executor_that_is_no_name(kind):
    with pytest.raises(SpecError, match=r"executor_spec\.type: expected the name of an executor"):
        check(document({"type": kind}))


@pytest.mark.parametrize("timeout", [float("inf"), 1e300])
def test_timeouts_that_nothing_can_wait(timeout):
    with pytest.raises(SpecError, match=r"collective\.timeout: expected at most 1,000,000 seconds"):
        check(document(learners=2, collective={"type": "gloo", "timeout": timeout}))


def test_one_learner_joins_nothing():
    check(document(learners=1, collective={"type": "elsewhere", "rendezvous": "a:1"}))


def test_a_program_trains_its_own_agent_in_a_folder(cluster, tmp_path):
    """What it said itself is not refused as data."""
    spec = {
        **AGENT,
        "execution_spec": {"learners": 1, "collective": {"type": "elsewhere", "rendezvous": "a:1"}},
    }
    agent = Agent.from_spec(spec, env="deterministic", backend="numpy")
    agent._arguments["execution_spec"]["learners"] = 2  # as a group has, which is not started here
    agent.learn(4, folder=tmp_path / "run")
    assert read_config(tmp_path / "run")["run"]["agent"]["execution_spec"]["learners"] == 2


@pytest.mark.parametrize("name", ["engine", "distributed_tf", "collective"])
def test_a_run_that_leaves_its_cluster_needs_no_permission(name, cluster, finished, tmp_path):
    """What it was is only compared."""
    folder = planted(finished, tmp_path / "planted", DOCUMENTS[name](cluster.address))
    here = ["executor_spec={type: sync_batch, engine: in_process, actors: 1}"]
    here = ["agent.execution_spec.learners=1"] if name == "collective" else here
    assert fork(folder, tmp_path / "new", here, steps=24).training.timesteps == 24
    assert resume(folder, steps=24, overrides=here).training.timesteps == 24
    assert cluster.connections == 0
