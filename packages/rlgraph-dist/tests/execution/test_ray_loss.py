"""A Ray cluster that is lost: named within seconds, and nothing waits for it."""

import json
import os
import socket
import subprocess
import sys
import textwrap
import threading
import time
from types import SimpleNamespace

import pytest

pytest.importorskip("ray")

import psutil
import ray

from rlgraph.execution import ClusterLost
from rlgraph.execution.ray import watch
from rlgraph.execution.ray.watch import Watch, within

NODE = "node"


class FakeRay:
    """Ray as far as waiting goes: its head and its raylet are two ports, and no value ever comes."""

    exceptions = ray.exceptions

    def __init__(self):
        self.servers = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        self.raylet, self.head = (server.getsockname()[1] for server in self.servers)
        self.util = SimpleNamespace(client=SimpleNamespace(ray=SimpleNamespace(is_connected=lambda: False)))

    def get_runtime_context(self):
        return SimpleNamespace(get_node_id=lambda: NODE, gcs_address=f"127.0.0.1:{self.head}")

    def nodes(self):
        return [{"NodeID": NODE, "NodeManagerAddress": "127.0.0.1", "NodeManagerPort": self.raylet}]

    def wait(self, references, num_returns, timeout):
        time.sleep(timeout)
        return [], references

    def get(self, reference, timeout):
        time.sleep(timeout)
        raise ray.exceptions.GetTimeoutError("not there")


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.setattr(watch, "_INTERVAL", 0.05)
    monkeypatch.setattr(watch, "_PATIENCE", 0.4)
    fake = FakeRay()
    yield fake
    for server in fake.servers:
        server.close()


WAITS = [
    lambda known: known.wait(["reference"], 60.0),
    lambda known: known.get("reference"),
    lambda known: known.call(threading.Event().wait),
]


@pytest.mark.parametrize("wait", WAITS)
def test_nothing_waits_for_a_raylet_that_has_ended(fake, wait):
    known = Watch(fake)
    threading.Timer(0.2, fake.servers[0].close).start()
    began = time.monotonic()
    with pytest.raises(ClusterLost, match=f"raylet of this machine at 127.0.0.1:{fake.raylet} has ended"):
        wait(known)
    assert time.monotonic() - began < 2.0 and not known.has_store
    with pytest.raises(ClusterLost):
        known.check()


def test_a_head_may_come_back_soon(fake, monkeypatch):
    known, again = Watch(fake), None
    fake.servers[1].close()
    assert known.wait(["reference"], 0.2) == []
    again = socket.create_server(("127.0.0.1", fake.head))
    try:
        assert known.wait(["reference"], 0.6) == []
    finally:
        again.close()
    began = time.monotonic()
    with pytest.raises(ClusterLost, match=rf"the head \(GCS\) at 127.0.0.1:{fake.head} has ended"):
        known.wait(["reference"], 60.0)
    assert 0.3 < time.monotonic() - began < 2.0 and known.has_store


def test_calls_that_never_return_have_a_limit_while_the_cluster_lives(fake, monkeypatch):
    monkeypatch.setattr(watch, "_SECONDS", 0.3)
    known, began = Watch(fake), time.monotonic()
    with pytest.raises(ClusterLost, match="has not answered for 0.3 s"):
        known.call(threading.Event().wait)
    with pytest.raises(ray.exceptions.GetTimeoutError):
        known.get("reference", 0.2)
    within(0.1, threading.Event().wait)
    assert time.monotonic() - began < 2.0
    with pytest.raises(ZeroDivisionError):
        known.call(lambda: 1 / 0)
    assert known.call(max, 1, 2) == 2


RUN = """
    import os, signal, sys
    import psutil
    from rlgraph.cli.main import main
    from rlgraph.workers.worker import Worker
    from rlgraph.execution import SyncBatchExecutor

    step, updates = SyncBatchExecutor.training_step, []

    def killing(self, schedule):
        updates.append(1)
        if len(updates) == 3:
            children = psutil.Process().children(recursive=True)
            print("CHILDREN", *(child.pid for child in children), flush=True)
            next(child for child in children if child.name() == "raylet").kill()
        return step(self, schedule)

    SyncBatchExecutor.training_step = killing
    sys.argv = ["rlgraph", "train", "run.json", "--folder", "run"]
    sys.exit(main())
"""


@pytest.mark.slow
def test_a_run_whose_raylet_is_killed_is_kept_and_says_how_to_go_on(tmp_path):
    document = {
        "agent": {
            "type": "ppo",
            "network_spec": [8],
            "rollout_length": 8,
            "num_epochs": 1,
            "num_minibatches": 1,
            "execution_spec": {"threads": 1},
        },
        "environment": "CartPole-v1",
        "backend": "torch",
        "steps": 10**8,
        "worker": {"num_envs": 2},
        "executor_spec": {"type": "sync_batch", "actors": 1, "engine": {"type": "ray", "num_cpus": 1}},
        "evaluation": {"interval": None},
        "logging": {"tensorboard": False},
    }
    (tmp_path / "run.json").write_text(json.dumps(document))
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(RUN)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode > 0, done.stderr
    assert "ClusterLost: the Ray cluster is lost: the raylet of this machine at 127.0.0.1:" in done.stderr
    folder = tmp_path / "run"
    assert f"A checkpoint was written at step 32: {folder / 'checkpoints' / 'last'}" in done.stderr
    assert f"rlgraph resume {folder}" in done.stderr
    assert json.loads((folder / "result.json").read_text())["outcome"] == "failed"
    line = next(line for line in done.stdout.splitlines() if line.startswith("CHILDREN"))
    children = [int(number) for number in line.split()[1:]]
    until = time.monotonic() + 20.0
    while (left := [number for number in children if psutil.pid_exists(number)]) and time.monotonic() < until:
        time.sleep(0.1)
    assert not left
