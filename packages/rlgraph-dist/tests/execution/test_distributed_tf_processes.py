"""Workers as processes of this machine: killed and stopped, and a learner that is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

from rlgraph.execution import ImpalaExecutor
from rlgraph.execution.distributed_tf.engine import DistributedTFEngine
from rlgraph.runs import resume
from rlgraph.runs.checkpoints import RunCheckpoints
from rlgraph.workers import Callback

pytestmark = pytest.mark.slow


class Signals(Callback):
    """Kills one worker after the second update, and stops the other."""

    def __init__(self, engine):
        self.engine, self.updates, self.pids = engine, 0, set()

    def on_update(self, worker, results):
        self.updates += 1
        places = [actor.place for actor in self.engine._actors.values()]
        self.pids |= {place.pid for place in places}
        if self.updates == 2:
            os.kill(places[0].pid, signal.SIGKILL)
            os.kill(places[1].pid, signal.SIGSTOP)


def is_running(pid):
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_workers_that_are_killed_or_stopped_are_replaced():
    engine = DistributedTFEngine()
    signals = Signals(engine)
    impala = {"type": "impala", "network_spec": [8], "rollout_length": 8}
    executor = ImpalaExecutor(
        impala, "CartPole-v1", engine=engine, backend="tf", seed=1, num_envs=4, sample_timeout=4.0
    )
    result = executor.execute(steps=12_800, callbacks=signals)
    assert result.timesteps == 12_800
    # On a busy machine a healthy worker may be late as well. Two requests of each were under way.
    assert executor.actor_restarts >= 2
    assert executor.lost_fragments == 2 * executor.actor_restarts
    engine.close()
    assert len(signals.pids) >= 4
    assert not any(map(is_running, signals.pids))


class StopAtReport(Callback):
    """Ends the run at the first report."""

    def on_report(self, worker, metrics):
        return True


def test_a_learner_that_is_killed_resumes_from_its_checkpoint(tmp_path):
    """Its workers notice it and end."""
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "rlgraph.cli", "train", "--agent", "impala", "--env", "CartPole-v1"]
    command += ["--backend", "torch", "--steps", "10000000", "--quiet", "--folder", str(folder)]
    command += ["--executor", "distributed_tf", "--actors", "1", "--set", "checkpoints.interval=2048"]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 90.0
    while not any(folder.glob("checkpoints/step-*")) and run.poll() is None and time.monotonic() < until:
        time.sleep(0.1)
    workers = [int(pid) for pid in Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()]
    assert len(workers) == 1
    run.kill()
    run.wait()
    until = time.monotonic() + 20.0
    while any(map(is_running, workers)) and time.monotonic() < until:
        time.sleep(0.1)
    assert not any(map(is_running, workers))
    _, state = RunCheckpoints(folder / "checkpoints", 2, memory=True).newest()
    overrides = ["executor_spec.engine=in_process"]
    summary = resume(folder, overrides=overrides, callbacks=[StopAtReport()])
    assert summary.training.timesteps > state.worker.done >= 2048
