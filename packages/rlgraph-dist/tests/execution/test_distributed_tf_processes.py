"""Workers as processes of this machine: killed and stopped, and a learner that is killed."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

from doubles import told

from rlgraph.core import allow_clusters, allow_network
from rlgraph.core.addresses import free_address
from rlgraph.execution import ImpalaExecutor
from rlgraph.execution.distributed_tf.engine import DistributedTFEngine
from rlgraph.runs import resume
from rlgraph.runs.checkpoints import RunCheckpoints
from rlgraph.workers import Callback

pytestmark = pytest.mark.slow

#: Seconds until processes have ended, or have said that another has: 5 on a machine that does nothing else, 10 for the
#: workers of a cluster.
LIMIT = 20.0


class Signals(Callback):
    """Kills one worker after the second update, and stops the other; ends the run when both are replaced."""

    def __init__(self, engine):
        self.engine, self.updates, self.pids = engine, 0, set()

    def on_update(self, worker, results):
        self.updates += 1
        places = [actor.place for actor in self.engine._actors.values()]
        self.pids |= {place.pid for place in places}
        if self.updates == 2:
            os.kill(places[0].pid, signal.SIGKILL)
            os.kill(places[1].pid, signal.SIGSTOP)
        # A worker that was replaced soon does all steps of a short run before the stopped one is missed.
        return worker.actor_restarts >= 2


def is_running(pid):
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_workers_that_are_killed_or_stopped_are_replaced():
    engine = DistributedTFEngine(allow_network=True)
    signals = Signals(engine)
    impala = {"type": "impala", "network_spec": [8], "rollout_length": 8}
    executor = ImpalaExecutor(
        impala, "CartPole-v1", engine=engine, backend="tf", seed=1, num_envs=4, sample_timeout=4.0
    )
    executor.execute(steps=100_000_000, callbacks=signals)
    # On a busy machine a healthy worker may be late as well. Two requests of each were under way; one of them may have
    # been answered before the end of its worker was seen.
    assert executor.actor_restarts >= 2
    assert executor.actor_restarts <= executor.lost_fragments <= 2 * executor.actor_restarts
    engine.close()
    assert len(signals.pids) >= 4
    assert not any(map(is_running, signals.pids))


@contextmanager
def training(folder, engine="distributed_tf", clusters=()):
    """A run in another process, as soon as it has a checkpoint."""
    command = [sys.executable, "-m", "rlgraph.cli", "train", "--agent", "impala", "--env", "CartPole-v1"]
    command += ["--backend", "torch", "--steps", "10000000", "--quiet", "--folder", str(folder)]
    command += ["--executor", json.dumps({"type": "impala", "engine": engine, "actors": 1})]
    command += ["--set", "checkpoints.interval=2048", "--allow-network"]
    command += [part for address in clusters for part in ("--allow-cluster", address)]
    # Tests that run in the background of a shell ignore Ctrl-C, and so would what they start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    signal.signal(signal.SIGINT, before)
    try:
        assert wait(lambda: any(folder.glob("checkpoints/step-*")) or run.poll() is not None, 90.0)
        yield run
    finally:
        run.kill()
        run.wait()


def children_of(run):
    return [int(pid) for pid in Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()]


def wait(is_so, seconds):
    """Whether something is so within seconds."""
    until = time.monotonic() + seconds
    while not is_so() and time.monotonic() < until:
        time.sleep(0.05)
    return is_so()


def newest_step(folder):
    return RunCheckpoints(folder / "checkpoints", 2, memory=True).newest()[1].worker.done


def test_a_learner_that_is_killed_resumes_from_its_checkpoint(tmp_path):
    """Its workers notice it and end."""
    folder = tmp_path / "run"
    with training(folder) as run:
        workers = children_of(run)
        assert len(workers) == 1
        run.kill()
        assert wait(lambda: not any(map(is_running, workers)), LIMIT)
    step = newest_step(folder)
    overrides = ["executor_spec.engine=in_process"]
    summary = resume(folder, overrides=overrides, callbacks=[told(on_report=lambda *_: True)])
    assert summary.training.timesteps > step >= 2048


def test_ctrl_c_writes_a_checkpoint_and_ends_all_processes(tmp_path):
    folder = tmp_path / "run"
    with training(folder) as run:
        before, workers = newest_step(folder), children_of(run)
        run.send_signal(signal.SIGINT)
        assert wait(lambda: run.poll() is not None and not any(map(is_running, workers)), LIMIT)
    assert newest_step(folder) >= before
    assert json.loads((folder / "result.json").read_text())["outcome"] == "interrupted"


def test_a_learner_of_a_cluster_that_is_killed_is_resumed_with_the_workers_it_had(tmp_path):
    cluster, folder = tmp_path / "cluster.json", tmp_path / "run"
    address, other = free_address(), free_address()
    cluster.write_text(json.dumps({"learner": [address], "actor": [other]}))
    command = [sys.executable, "-m", "rlgraph.execution.distributed_tf", "--cluster", str(cluster)]
    said = tmp_path / "said.txt"
    with said.open("w") as output:
        worker = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        engine = {"type": "distributed_tf", "cluster": str(cluster)}
        with training(folder, engine, (address, other)) as run:
            run.kill()
            assert wait(lambda: f"worker 0: the learner at {address} is gone" in said.read_text(), LIMIT)
        step = newest_step(folder)
        with allow_clusters(address, other), allow_network():
            assert resume(folder, callbacks=[told(on_report=lambda *_: True)]).training.timesteps > step
        assert worker.wait(LIMIT) == 0  # the run has ended
    finally:
        worker.kill()
        worker.wait()
